import { UsageError } from './usage-error.ts'

const KEYS: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  esc: '\u001b',
  space: ' ',
  backspace: '\u007f',
  delete: '\u001b[3~',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  'page-up': '\u001b[5~',
  'page-down': '\u001b[6~',
}

/** The bytes that a terminal sends for a key: `enter`, `up`, `ctrl-c`, or a character. */
export function keyBytes(name: string): string {
  const known = KEYS[name.toLowerCase()]
  if (known !== undefined) return known
  const control = /^(?:ctrl|c)-([a-z@[\]\\^_])$/i.exec(name)?.[1]
  if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f)
  if ([...name].length === 1) return name
  throw new UsageError(
    `There is no key ${name}.`,
    `Give one of ${Object.keys(KEYS).join(', ')}, ctrl-<letter>, or a character.`,
  )
}
