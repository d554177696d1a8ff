import { MAX_STYLE_CHARS, visibleStyle } from './visible-style.ts'

/**
 * Untrusted text for a terminal: nothing but colours and text styles (SGR) reaches it as an escape sequence. Sequences that set
 * the clipboard or the title, move the cursor, conceal text or query the terminal are removed; control characters and
 * bidirectional marks and overrides are made visible.
 */
export function neutral(text: string): string {
  // The common case.
  if (!SUSPICIOUS.test(text)) return text
  const filter = new EscapeFilter('line')
  return filter.take(text) + filter.end()
}

/** One line of untrusted text: colours that it leaves on end with the line. */
export function neutralLine(text: string): string {
  const shown = neutral(text)
  return shown.includes('\u001b') ? `${shown}${RESET}` : shown
}

/** Escapes the characters of JSON text that a terminal would act on. The value stays the same. */
export function neutralJson(text: string): string {
  return text.replaceAll(IN_JSON, (character) => `\\u${hex(character)}`)
}

/** Makes characters visible that change the order in which others are shown. */
export function visibleBidi(text: string): string {
  return text.replaceAll(BIDI, visible)
}

const RESET = '\u001b[0m'

const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Where in an escape sequence of ECMA-48 the next character is. `text`: in none. `string`: in one that goes on until ST
 * (OSC: or BEL), such as a title or the clipboard. A line end breaks off any of them.
 */
type State = 'text' | 'escape' | 'control' | 'string' | 'escape in string'

/** Filters text that comes in pieces. A piece may end within an escape sequence: the state is kept. */
export class EscapeFilter {
  /** Whether carriage returns are passed on: programs draw progress with them. In one line they are dropped. */
  readonly #within: 'line' | 'output'
  #state: State = 'text'
  #parameters = ''
  #hasColour = false

  constructor(within: 'line' | 'output') {
    this.#within = within
  }

  take(text: string): string {
    if (this.#state === 'text' && !SUSPICIOUS.test(text)) return text
    let shown = ''
    for (const character of text) shown += this.#next(character)
    return shown
  }

  /** The text that must follow the last piece. */
  end(): string {
    this.#state = 'text'
    return this.#hasColour && this.#within === 'output' ? RESET : ''
  }

  #next(character: string): string {
    switch (this.#state) {
      case 'text':
        return this.#inText(character)
      case 'escape':
        return this.#afterEscape(character)
      case 'control':
        return this.#inControl(character)
      case 'string':
        return this.#inString(character)
      case 'escape in string':
        this.#state = 'text'
        return character === '\\' ? '' : this.#afterEscape(character)
    }
  }

  #inText(character: string): string {
    if (character === '\u001b') this.#state = 'escape'
    else if (character === '\u009b') this.#begin('control')
    else if (STRINGS_C1.includes(character)) this.#state = 'string'
    else return this.#shown(character)
    return ''
  }

  #afterEscape(character: string): string {
    if (character === '[') this.#begin('control')
    else if (STRINGS.includes(character)) this.#state = 'string'
    // Intermediates, such as `(` before a character set.
    else if (character >= ' ' && character <= '/') this.#state = 'escape'
    else {
      this.#state = 'text'
      const isFinal = character >= '0' && character <= '~'
      return isFinal ? '' : this.#inText(character)
    }
    return ''
  }

  #inControl(character: string): string {
    if (character >= ' ' && character <= '?') {
      // One character more than a style may have: it is too long then, and the rest does not matter.
      if (this.#parameters.length <= MAX_STYLE_CHARS) this.#parameters += character
      return ''
    }
    this.#state = 'text'
    if (character < '@' || character > '~') return this.#inText(character)
    const parameters = character === 'm' ? visibleStyle(this.#parameters) : null
    if (parameters === null) return ''
    this.#hasColour = true
    return `\u001b[${parameters}m`
  }

  #inString(character: string): string {
    if (character === '\u001b') this.#state = 'escape in string'
    else if (character === '\n') {
      this.#state = 'text'
      return character
    } else if (STRING_ENDS.includes(character)) this.#state = 'text'
    return ''
  }

  #begin(state: State): void {
    this.#state = state
    this.#parameters = ''
  }

  #shown(character: string): string {
    if (character === '\n' || character === '\t') return character
    if (character === '\r' && this.#within === 'output') return character
    return SUSPICIOUS.test(character) ? visible(character) : character
  }
}

/** DCS, SOS, OSC, PM and APC. */
const STRINGS = ['P', 'X', ']', '^', '_']
const STRINGS_C1 = ['\u0090', '\u0098', '\u009d', '\u009e', '\u009f']
/** BEL, CAN, SUB and ST. */
const STRING_ENDS = ['\u0007', '\u0018', '\u001a', '\u009c']

/** `^G` for a control character of ASCII, `<U+202E>` for any other. */
function visible(character: string): string {
  const code = character.charCodeAt(0)
  if (code === 0x7f) return '^?'
  return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : `<U+${hex(character).toUpperCase()}>`
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, '0')
}
