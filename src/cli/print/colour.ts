/** Colours where somebody sees them: on a terminal, unless NO_COLOR says otherwise. */
export interface Colours {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly blue: (text: string) => string
  readonly cyan: (text: string) => string
}

export function coloursFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
  asked: string | undefined,
): Colours {
  return wantsColour(stream, env, asked) ? ANSI : PLAIN
}

function wantsColour(
  { isTTY = false }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
  asked: string | undefined,
): boolean {
  if (asked === 'always') return true
  if (asked === 'never') return false
  if ((env['NO_COLOR'] ?? '') !== '') return false
  if ((env['FORCE_COLOR'] ?? '0') !== '0') return true
  return isTTY && env['TERM'] !== 'dumb'
}

const coloured = (code: number, off: number) => (text: string) =>
  text === '' ? '' : `\u001b[${code}m${text}\u001b[${off}m`
const plain = (text: string) => text

const ANSI: Colours = {
  bold: coloured(1, 22),
  dim: coloured(2, 22),
  red: coloured(31, 39),
  green: coloured(32, 39),
  yellow: coloured(33, 39),
  blue: coloured(34, 39),
  cyan: coloured(36, 39),
}
const PLAIN: Colours = {
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  blue: plain,
  cyan: plain,
}
