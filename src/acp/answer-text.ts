/** The kinds of text that a model streams. */
export type TextKind = 'text' | 'thinking'

/** A piece of text for the editor. `message` numbers the messages of one call: another number begins the text again. */
export interface TextChunk {
  readonly kind: TextKind
  readonly text: string
  readonly message: string
}

interface Said {
  /** What the editor has. */
  shown: string
  /** The text of the present attempt, as far as it is known. */
  heard: string
  /** The part of it that entries have. */
  entered: string
  message: string
}

/**
 * The text of one model call, from its fragments and from its entries, each character once. A call that was cut is made again: text that
 * the editor has already is not sent twice, and text that differs from it begins a message of its own.
 */
export class AnswerText {
  readonly #said = new Map<TextKind, Said>()
  #call: string | null = null
  #wasCut = false
  #messages = 0

  /** Text as it streams. */
  fragment(call: string, kind: TextKind, text: string): TextChunk[] {
    const left = this.#begin(call)
    const said = this.#of(kind)
    said.heard += text
    return [...left, ...flushed(kind, said, () => this.#nextMessage())]
  }

  /** Text of an entry: the session log has it. */
  entry(call: string, kind: TextKind, text: string): TextChunk[] {
    const left = this.#begin(call)
    const said = this.#of(kind)
    said.entered += text
    if (!said.heard.startsWith(said.entered)) said.heard = said.entered
    return [...left, ...flushed(kind, said, () => this.#nextMessage())]
  }

  /** The call is made again, and its text comes from the beginning. */
  cut(): void {
    this.#wasCut = true
    for (const said of this.#said.values()) Object.assign(said, { heard: '', entered: '' })
  }

  /** The call is over. If the editor was shown more than its last attempt said, the text of that attempt follows as a whole. */
  end(): TextChunk[] {
    const chunks = [...this.#said].flatMap(([kind, said]) => {
      if (said.entered === '' || said.entered === said.shown) return []
      said.shown = said.entered
      said.message = this.#nextMessage()
      return [{ kind, text: said.entered, message: said.message }]
    })
    this.#said.clear()
    this.#call = null
    this.#wasCut = false
    return chunks
  }

  /** After a cut the next call continues the messages of the one before. */
  #begin(call: string): TextChunk[] {
    if (this.#call === call) return []
    const left = this.#wasCut ? [] : this.end()
    this.#call = call
    this.#wasCut = false
    return left
  }

  #of(kind: TextKind): Said {
    const known = this.#said.get(kind)
    if (known !== undefined) return known
    const said = { shown: '', heard: '', entered: '', message: this.#nextMessage() }
    this.#said.set(kind, said)
    return said
  }

  #nextMessage(): string {
    return `${this.#call}.${++this.#messages}`
  }
}

function flushed(kind: TextKind, said: Said, nextMessage: () => string): TextChunk[] {
  const { heard, shown } = said
  if (shown.startsWith(heard)) return []
  const continues = heard.startsWith(shown)
  if (!continues) said.message = nextMessage()
  said.shown = heard
  return [{ kind, text: continues ? heard.slice(shown.length) : heard, message: said.message }]
}
