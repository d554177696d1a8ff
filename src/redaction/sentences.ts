import {
  COLON,
  COMMA,
  DOT,
  isBlank,
  isIn,
  isLineEnd,
  isQuote,
  SEMICOLON,
  SLASH,
  standsAt,
  WORD,
} from './characters.ts'
import type { Findings } from './findings.ts'
import { isReference, isSecretValue } from './secret-value.ts'
import { textOf } from './text-of.ts'

/** How the words end that a secret comes right behind. Those with a rare first letter are found fastest. */
const MARKS = ['word ', 'WORD ', 'phrase ', "by '", "BY '", 'pass ', 'key ', 'ken ', 'uth '].map((text) =>
  Buffer.from(text),
)
const MAX_VALUE_BYTES = 256
const MAX_CONTEXT_BYTES = 80
const MIN_TOKEN_BYTES = 16

/**
 * Secrets that sentences and statements tell without a separator: `password is …`, `access key …`, `IDENTIFIED BY '…'`, `login me
 * password …` of .netrc, `requirepass …` of Redis.
 */
export function findSentences(found: Findings, bytes: Buffer): void {
  for (const mark of MARKS)
    for (
      let at = bytes.indexOf(mark, found.start);
      at !== -1 && at < found.end;
      at = bytes.indexOf(mark, at + mark.length)
    ) {
      const teller = tellerBefore(bytes, at + mark.length)
      if (teller !== null) findTold(found, teller, at + mark.length)
    }
}

type Teller = 'sentence' | 'statement' | 'setting' | 'token'

/** Where each word stands, so that its first letter may be a capital. */
const TELLERS: readonly (readonly [string, Teller])[] = [
  ['assword ', 'sentence'],
  ['assphrase ', 'sentence'],
  ["dentified by '", 'statement'],
  ['equirepass ', 'setting'],
  ['asterauth ', 'setting'],
  ['pi key ', 'token'],
  ['ccess key ', 'token'],
  ['ecret key ', 'token'],
  ['token ', 'token'],
]

function tellerBefore(bytes: Uint8Array, behind: number): Teller | null {
  const known = TELLERS.find(([text]) => standsAt(bytes, behind - text.length, text))
  if (known === undefined) return null
  const [text, teller] = known
  // The name of something, such as `DB_PASSWORD ` or `/reset-password `.
  const before = bytes[behind - text.length - (text === 'token ' ? 1 : 2)]
  if (isIn(before, WORD) || before === SLASH || before === DOT) return null
  // In capitals it is a word of SQL.
  return text === 'assword ' && bytes[behind - 2] === 0x44 ? 'statement' : teller
}

function findTold(found: Findings, teller: Teller, behind: number): void {
  const { bytes, end } = found
  let from = behind
  if (isQuote(bytes[behind - 1])) from--
  while (from < end && isBlank(bytes[from])) from++
  if (teller === 'sentence' || teller === 'token') from = behindVerb(found, from)
  const quote = isQuote(bytes[from]) ? bytes[from] : undefined
  if (quote !== undefined) from++
  const endsValue = (byte: number | undefined) =>
    isLineEnd(byte) || (quote === undefined ? isBlank(byte) || isQuote(byte) : byte === quote)
  let to = from
  while (to < end && to - from < MAX_VALUE_BYTES && !endsValue(bytes[to])) {
    to++
    // Two stand for one in SQL.
    if (teller === 'statement' && bytes[to] === quote && bytes[to + 1] === quote) to += 2
  }
  if (found.mayContinue(to) || (teller === 'statement' && found.mayContinue(to + 1))) {
    to = Math.min(to, end)
    found.addTentative(from, to)
    return
  }
  if (quote === undefined) while (to > from && isStop(bytes[to - 1])) to--
  const text = textOf(bytes, from, to)
  if (to <= from || isReference(text) || (teller === 'statement' && quote === undefined)) return
  if (teller === 'token') {
    if (text.length >= MIN_TOKEN_BYTES && isSecretValue('token', text, 'sentence')) found.add(from, to)
    return
  }
  const before = textOf(bytes, Math.max(found.start, behind - MAX_CONTEXT_BYTES), behind)
  const isNetrc = /\b(?:login|machine)\s+\S+\s+password $/i.test(before)
  const style = teller === 'statement' ? 'quoted' : teller === 'setting' || isNetrc ? 'setting' : 'sentence'
  if (isSecretValue('password', text, style)) found.add(from, to)
}

/** `.`, `,`, `;` */
function isStop(byte: number | undefined): boolean {
  return byte === DOT || byte === COMMA || byte === SEMICOLON
}

const VERB = /^(?:(?:is|was|set to|changed to|reset to|of|=)(?: now| set to)? ?[:=]? |to (?=["'`]))/
/** `password for the admin is …`, `password for root: …` */
const OWNER = /^for (?:[\w.@/-]{1,40} ){0,3}[\w.@/-]{1,40}(?: is(?: now| set to)?:? |: )/

/** The offset behind `is`, `is:`, `was set to` or `for root:`, where the value of the sentence begins. */
function behindVerb({ bytes, end }: Findings, from: number): number {
  const most = Math.min(end, from + MAX_CONTEXT_BYTES)
  let last = from
  let text = ''
  for (let at = from; at < most && !isLineEnd(bytes[at]); at++)
    text += String.fromCharCode(bytes[at] as number)
  const verb = VERB.exec(text) ?? OWNER.exec(text)
  if (verb !== null) last = from + verb[0].length
  const generated = /^is generated for \S{1,40} ?/.exec(text)
  if (generated !== null) last = from + generated[0].length
  if (generated !== null && bytes[last - 2] !== COLON) return from
  return last
}
