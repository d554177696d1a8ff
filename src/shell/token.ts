/** A word of a command. */
export interface Token {
  /** Null if only the shell knows it. */
  readonly value: string | null
  /** The literal characters that it begins with, up to the first that only the shell knows. */
  readonly start: string
  /** Whether it can become no word or several. */
  readonly isSplit: boolean
  /** Whether a word that it becomes can begin with a dash. */
  readonly mayBeOption: boolean
  /** The variable that an argument of `export` or `declare` sets. */
  readonly assigns?: string
}

/** A command before its wrappers are removed: the program is the first token. */
export interface SimpleCommand {
  readonly tokens: readonly Token[]
  readonly env: readonly string[]
}

export function literalToken(value: string): Token {
  return { value, start: value, isSplit: false, mayBeOption: value.startsWith('-') }
}

/** Any number of unknown words. */
export const UNKNOWN_WORDS: Token = { value: null, start: '', isSplit: true, mayBeOption: true }

/** The name of a program without its folder, in lower case: some file systems ignore case. */
export function baseNameOf(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1).toLowerCase()
  return name.endsWith('.exe') ? name.slice(0, -'.exe'.length) : name
}
