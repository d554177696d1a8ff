/** Limits the work on one command line of any text. Over any of the limits the line is opaque. */
export class Budget {
  #work = 0
  #commands = 0
  #exceeded: string | undefined

  /** The first limit that was exceeded. */
  get exceeded(): string | undefined {
    return this.#exceeded
  }

  /** What was spent, in characters that were read and nodes that were visited. */
  get work(): number {
    return this.#work
  }

  /** Whether there was that much left. */
  spend(work: number): boolean {
    this.#work += work
    if (this.#work > MAX_WORK) this.exceed('it is too deeply nested')
    return this.#exceeded === undefined
  }

  spendCommand(): boolean {
    this.#commands += 1
    if (this.#commands > MAX_COMMANDS) this.exceed(`it has more than ${MAX_COMMANDS} commands`)
    return this.#exceeded === undefined
  }

  exceed(reason: string): void {
    this.#exceeded ??= reason
  }
}

/** A command line is at most this long. Longer ones come from a file, which is then what runs. */
export const MAX_TEXT_CHARS = 256 * 1024

/**
 * Characters that may be read, each twice per level of nesting: as a word and as a substitution. A text of the maximum length
 * may have two levels, one of a quarter of it eight.
 */
export const MAX_WORK = 4 * MAX_TEXT_CHARS

/** More than any line that a person would read before approving it. */
export const MAX_COMMANDS = 1_000

/** Each of them is listed with each command. */
export const MAX_VARIABLES = 1_000

/** Wrappers around wrappers, and texts within texts. */
export const MAX_DEPTH = 32

/** The parser reads the rest of a word for each brace that opens a list: this bounds the product. */
const MAX_BRACE_WORK = 32 * 1024 * 1024

/** The parser searches the bodies of all here-documents of a line for each of them. */
const MAX_HERE_DOCUMENTS = 2_000

/** Why the parser would take too long for this text, if so. */
export function tooLarge(text: string): string | undefined {
  if (text.length > MAX_TEXT_CHARS) return `it has more than ${MAX_TEXT_CHARS} characters`
  const braces = text.match(/\{(?![\s}])/g)?.length ?? 0
  if (braces * text.length > MAX_BRACE_WORK) return 'it has too many braces'
  if (text.split('<<').length > MAX_HERE_DOCUMENTS) return 'it has too many here-documents'
  return undefined
}
