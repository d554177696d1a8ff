import {
  AT,
  BACKSLASH,
  DIGIT,
  GREATER,
  indexWhere,
  isBlank,
  isIn,
  isQuote,
  NAME,
  RETURN,
  standsAt,
} from './characters.ts'
import { endsLine } from './line-start.ts'
import { MAX_VALUE_BYTES } from './secret-value.ts'

export interface Opening {
  readonly inside: number
  readonly quote: number
  /** How many backslashes precede the opening and the closing mark: JSON within JSON. */
  readonly depth: number
}

/** A quotation mark, with backslashes or one letter (`b'…'`, `@"…"`) before it; null if there is none. */
export function openingQuote(bytes: Uint8Array, from: number): Opening | null {
  let at = from
  while (at - from < MAX_DEPTH && bytes[at] === BACKSLASH) at++
  const depth = at - from
  if (
    depth === 0 &&
    !isQuote(bytes[at]) &&
    isQuote(bytes[at + 1]) &&
    (isIn(bytes[at], NAME) || bytes[at] === AT)
  )
    at++
  const quote = bytes[at]
  return isQuote(quote) && quote !== undefined ? { inside: at + 1, quote, depth } : null
}

const MAX_DEPTH = 7

/** `Some("…")`, `SecretString("…")`: how languages print an optional or a wrapped value. */
export function wrappedQuote(bytes: Uint8Array, from: number): Opening | null {
  const wrapper = WRAPPERS.find((text) => standsAt(bytes, from, text))
  if (wrapper === undefined) return null
  const inside = from + wrapper.length
  // Rust's `{:#?}` and similar printers put the wrapped value on its own line.
  return openingQuote(bytes, endsLine(bytes[inside]) ? nextLine(bytes, inside) : inside)
}

/** The `string(9) "…"` that PHP's `var_dump` prints in the line below `["password"]=>`. */
export function dumpedQuote(bytes: Uint8Array, arrowEnd: number): Opening | null {
  if (!endsLine(bytes[arrowEnd]) || bytes[arrowEnd - 1] !== GREATER) return null
  const from = nextLine(bytes, arrowEnd)
  if (!standsAt(bytes, from, 'string(')) return null
  const length = indexWhere(bytes, from + 7, Math.min(bytes.length, from + 14), (byte) => !isIn(byte, DIGIT))
  return standsAt(bytes, length, ') "') ? openingQuote(bytes, length + 2) : null
}

/** Where the text of the next line begins, if its indentation is not unusually deep. */
function nextLine(bytes: Uint8Array, lineEnd: number): number {
  const from = lineEnd + (bytes[lineEnd] === RETURN ? 2 : 1)
  return indexWhere(bytes, from, Math.min(bytes.length, from + MAX_INDENT_BYTES), (byte) => !isBlank(byte))
}

const MAX_INDENT_BYTES = 80

const WRAPPERS = [
  'some(',
  'ok(',
  'just ',
  'optional(',
  'string(',
  'secret(',
  'secretstring(',
  'secretstr(',
  'password(',
]

export function endOfQuoted(bytes: Uint8Array, { inside, quote, depth }: Opening, end: number): number {
  const most = Math.min(end, inside + MAX_VALUE_BYTES)
  let slashes = 0
  for (let at = inside; at < most; at++) {
    const byte = bytes[at]
    if (byte === BACKSLASH) {
      slashes++
      continue
    }
    if (endsLine(byte)) return at
    if (byte === quote && (slashes === depth || (depth === 0 && slashes % 2 === 0))) return at - depth
    slashes = 0
  }
  return most
}
