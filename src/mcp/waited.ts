import * as z from 'zod'
import type { OutputOf } from '../verbs/reeve.ts'
import { processView } from './process-view.ts'
import type { Answer } from './tool.ts'
import { shown, type Unread, unreadOutput } from './unread.ts'
import { firstLine, duration as inWords, sentenceOn } from './words.ts'

export const waitedOutput = z.strictObject({
  answer: z.enum(['ended', 'matched', 'ready', 'not_ready', 'timed_out']),
  line: z.string().nullable().describe('the line that matched'),
  finished: z.boolean().describe('the process has ended'),
  process: processView,
  ...unreadOutput,
})

const READY = { ready: 'It is ready. ', not_ready: 'It was not ready in the time it was given. ' } as const

/** What a wait came to, and what is new meanwhile. `afterMs`: how long it was waited, where that is known. */
export function waitedFor(
  waited: OutputOf<'wait'>,
  unread: Unread,
  afterMs: number | null,
): Answer<z.output<typeof waitedOutput>> {
  const answer = waited.type === 'interrupted' ? 'timed_out' : waited.type
  const line = waited.type === 'matched' ? waited.line.text : null
  const { process, output, more, lost, readTo } = unread
  const after = afterMs === null ? '' : `, after ${inWords(afterMs)}`
  const happened =
    answer === 'timed_out'
      ? `Not yet${after}. `
      : answer === 'ready' || answer === 'not_ready'
        ? READY[answer]
        : line === null
          ? ''
          : `Printed: ${firstLine(line, 300)}\n`
  const finished = process.endedAt !== null
  return {
    structured: { answer, line, finished, process, output, more, lost, readTo },
    text: `${happened}${sentenceOn(process)}\n${shown(unread)}`,
  }
}
