import { COLON, isBlank, isLineEnd, isQuote } from './characters.ts'
import type { Findings } from './findings.ts'
import { isReference, isSecretValue } from './secret-value.ts'
import { textOf } from './text-of.ts'

/** Words that come right before a secret, the way they end: the first letter may be a capital. */
const MARKS = [
  'assword ',
  'ASSWORD ',
  'assphrase ',
  'asscode ',
  'dentified by ',
  'DENTIFIED BY ',
  'equirepass ',
  'asterauth ',
].map((text) => Buffer.from(text))
const MAX_VALUE_BYTES = 256
const MAX_CONTEXT_BYTES = 80

/**
 * Passwords that sentences and statements tell without a separator: `password is …`, `IDENTIFIED BY '…'`, `login me password …`
 * of .netrc, `requirepass …` of Redis.
 */
export function findSentences(found: Findings, bytes: Buffer): void {
  for (const mark of MARKS)
    for (
      let at = bytes.indexOf(mark, found.start);
      at !== -1 && at < found.end;
      at = bytes.indexOf(mark, at + mark.length)
    )
      findTold(found, mark.toString(), at, at + mark.length)
}

function findTold(found: Findings, mark: string, at: number, behind: number): void {
  const { bytes, end } = found
  const isStatement = mark.startsWith('dent') || mark.startsWith('DENT') || mark === 'ASSWORD '
  const isSetting = mark.startsWith('equire') || mark.startsWith('aster')
  let from = behind
  while (from < end && isBlank(bytes[from])) from++
  if (!isStatement && !isSetting) from = behindVerb(found, from)
  const quote = isQuote(bytes[from]) ? bytes[from] : undefined
  if (quote !== undefined) from++
  let to = from
  while (
    to < end &&
    to - from < MAX_VALUE_BYTES &&
    !isLineEnd(bytes[to]) &&
    (quote === undefined ? !isBlank(bytes[to]) && !isQuote(bytes[to]) : bytes[to] !== quote)
  )
    to++
  if (found.mayGoOn(to)) {
    found.addEarly(from, to)
    return
  }
  if (quote === undefined)
    while (to > from && (bytes[to - 1] === 0x2e || bytes[to - 1] === 0x2c || bytes[to - 1] === 0x3b)) to--
  const text = textOf(bytes, from, to)
  if (to <= from || isReference(text)) return
  const before = textOf(bytes, Math.max(found.start, at - MAX_CONTEXT_BYTES), at)
  if (isStatement && quote === undefined) return
  const isNetrc = /\b(?:login|machine)\s+\S+\s+p$/i.test(before)
  const style = isStatement ? 'quoted' : isSetting || isNetrc ? 'setting' : 'sentence'
  if (isSecretValue('password', text, style)) found.add(from, to)
}

/** Behind `is`, `is:`, `was set to`, `for root:`: where the sentence says what it is. */
function behindVerb({ bytes, end }: Findings, from: number): number {
  const most = Math.min(end, from + MAX_CONTEXT_BYTES)
  let last = from
  let text = ''
  for (let at = from; at < most && !isLineEnd(bytes[at]); at++)
    text += String.fromCharCode(bytes[at] as number)
  const verb = /^(?:is|was|set to|changed to|reset to|of|=)(?: now| set to)? ?[:=]? /.exec(text)
  if (verb !== null) last = from + verb[0].length
  const generated = /^is generated for \S{1,40} ?/.exec(text)
  if (generated !== null) last = from + generated[0].length
  if (generated !== null && bytes[last - 2] !== COLON) return from
  return last
}
