/** A text that contains secrets, and the fragments of those secrets that a masked copy must not show. */
export interface Leak {
  readonly family: string
  readonly text: string
  readonly secret: string | readonly string[]
}

export const DIGITS = '0123456789'
export const HEX = '0123456789abcdef'
export const LOWER = 'abcdefghijklmnopqrstuvwxyz'
export const UPPER = LOWER.toUpperCase()
export const LETTERS = UPPER + LOWER
export const LOWER_ALNUM = LOWER + DIGITS
export const UPPER_ALNUM = UPPER + DIGITS
export const ALNUM = LETTERS + DIGITS
export const BASE32 = `${UPPER}234567`
export const BASE64 = `${ALNUM}+/`
export const URL_SAFE = `${ALNUM}-_`
export const BECH32 = 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'
/** Characters of generated passwords which need no quotes in a shell or in YAML. */
export const PASSWORD = `${ALNUM}!%+.^_~`

const OPEN = '\uE000'
const CLOSE = '\uE001'
const MARKED = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')
const SHORT_SECRET_CHARS = 16

/** Marks `value` as secret inside a text that is given to `leak`. */
export const hide = (value: string): string => OPEN + value + CLOSE

/** A token with a public prefix and a secret random rest. */
export const fake = (prefix: string, length: number, alphabet: string): string =>
  prefix + hide(random(length, alphabet))

/** Removes the marks from `text` and declares each marked value as secret. */
export function leak(family: string, text: string): Leak {
  const secret = [...text.matchAll(MARKED)].flatMap(([, value = '']) => fragments(value))
  return { family, text: text.replaceAll(OPEN, '').replaceAll(CLOSE, ''), secret: [...new Set(secret)] }
}

let calls = 0

/** A random-looking string. Each call continues one fixed sequence, so every run builds the same corpus. */
export function random(length: number, alphabet: string): string {
  calls += 1
  const next = mulberry32(Math.imul(calls, 0x9e3779b1))
  return Array.from({ length }, () => alphabet.charAt(Math.floor(next() * alphabet.length))).join('')
}

export const base64 = (value: string): string => Buffer.from(value).toString('base64')
const base64url = (value: string): string => Buffer.from(value).toString('base64url')

export const uuid = (): string =>
  [random(8, HEX), random(4, HEX), `4${random(3, HEX)}`, `a${random(3, HEX)}`, random(12, HEX)].join('-')

/** A signed JWT. Its header is public, its claims and its signature are secret. */
export function jwt(claims: object, algorithm = 'HS256'): string {
  const header = base64url(JSON.stringify({ alg: algorithm, typ: 'JWT' }))
  const signature = random(algorithm === 'HS256' ? 43 : 342, URL_SAFE)
  return `${header}.${hide(`${base64url(JSON.stringify(claims))}.${signature}`)}`
}

/** The lines of a PEM block with a secret body. */
export function privateKey(label: string, bodyLines: number, knownStart = ''): string[] {
  const body = Array.from({ length: bodyLines }, (_, line) =>
    line === 0 ? knownStart + hide(random(64 - knownStart.length, BASE64)) : hide(random(64, BASE64)),
  )
  return [border('BEGIN', label), ...body, `${hide(random(43, BASE64))}=`, border('END', label)]
}

/** The lines of a PEM block whose body is public, such as a certificate. */
export function publicBlock(label: string, bodyLines: number): string[] {
  const body = Array.from({ length: bodyLines }, () => random(64, BASE64))
  return [border('BEGIN', label), ...body, `${random(43, BASE64)}=`, border('END', label)]
}

export const border = (edge: 'BEGIN' | 'END', label: string): string => `-----${edge} ${label}-----`

/**
 * Consecutive fragments that cover `value`: a masker that hides only a part of a secret leaves at least one of them readable,
 * while it may keep a few characters at either end as a hint.
 */
function fragments(value: string): string[] {
  return value.split(/\r?\n/).flatMap((line) => {
    const size = value.length < SHORT_SECRET_CHARS ? 6 : 8
    if (line.length <= size) return [line]
    const starts = Array.from({ length: Math.floor(line.length / size) }, (_, index) => index * size)
    return [...starts, line.length - size].map((start) => line.slice(start, start + size))
  })
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
