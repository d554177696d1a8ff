import type { ReeveVerbs } from '../verbs/reeve.ts'
import { tail } from './page.ts'
import { pollOrAgain } from './poll-again.ts'

/** Most of UTF-8; what has escape sequences in it comes out shorter. */
const BYTES_PER_CHAR = 4
const MAX_CHARS = 250_000

/**
 * The end of what a process has printed, as a terminal would show it. Only a look, unlike `log`: that one is for whoever reads
 * an output to its end, and is then not told of the end of the process.
 */
export async function endOfOutput(
  acting: ReeveVerbs,
  pid: string,
  { chars, lines }: { readonly chars: number; readonly lines: number },
): Promise<string> {
  const { end } = await acting.output({ pid, offset: Number.MAX_SAFE_INTEGER, limit: 1 })
  const most = Math.min(chars, MAX_CHARS)
  const from = Math.max(0, end - most * BYTES_PER_CHAR)
  const { text } = await pollOrAgain(acting, {
    pid,
    cursor: `o${from}`,
    maxChars: MAX_CHARS * BYTES_PER_CHAR,
    ansi: 'render',
  })
  // It may begin in the midst of a line, and of a character.
  const whole = from === 0 ? text : text.slice(text.indexOf('\n') + 1)
  const last = tail(whole, most).split('\n')
  const isClosed = last.at(-1) === ''
  return last.slice(-(isClosed ? lines + 1 : lines)).join('\n')
}
