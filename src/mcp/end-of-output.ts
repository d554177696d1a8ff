import type { ReeveVerbs } from '../verbs/reeve.ts'
import { tail } from './page.ts'
import { pollWithRetry } from './poll-with-retry.ts'

/** The most that UTF-8 needs. Output with escape sequences renders shorter. */
const BYTES_PER_CHAR = 4
const MAX_CHARS = 250_000

/**
 * The end of a process's output, as a terminal would show it. It moves no read position, unlike `log`: a reader that reads
 * a log to its end is not notified of the end of the process.
 */
export async function endOfOutput(
  acting: ReeveVerbs,
  pid: string,
  { chars, lines }: { readonly chars: number; readonly lines: number },
): Promise<string> {
  const { end } = await acting.output({ pid, offset: Number.MAX_SAFE_INTEGER, limit: 1 })
  const most = Math.min(chars, MAX_CHARS)
  const from = Math.max(0, end - most * BYTES_PER_CHAR)
  const { text } = await pollWithRetry(acting, {
    pid,
    cursor: `o${from}`,
    maxChars: MAX_CHARS * BYTES_PER_CHAR,
    ansi: 'render',
  })
  // The bytes may begin within a line, and within a character.
  const whole = from === 0 ? text : text.slice(text.indexOf('\n') + 1)
  const last = tail(whole, most).split('\n')
  const isClosed = last.at(-1) === ''
  return last.slice(-(isClosed ? lines + 1 : lines)).join('\n')
}
