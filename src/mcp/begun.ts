import * as z from 'zod'
import type { Acting } from '../verbs/reeve.ts'
import { duration } from '../verbs/shapes/scalars.ts'
import { processView } from './process-view.ts'
import type { Answer, Call } from './tool.ts'
import { readUnread, shown, unreadOutput } from './unread.ts'
import { sentenceOn } from './words.ts'

export const startWaitMs = duration
  .max(30_000)
  .default(1_000)
  .describe('how long to wait for its end before answering, in milliseconds')

export const begunOutput = z.strictObject({
  finished: z.boolean().describe('false: it runs on, under its pid'),
  process: processView,
  ...unreadOutput,
  duplicateOf: z.string().exactOptional().describe('a process that runs the same command since moments ago'),
})

const NEXT =
  'It runs on. Next: process_wait (its end, or a line), process_poll (new output), process_write, process_kill.'

/** Waits a while for the end of what was just begun, and tells what it printed so far. */
export async function begun(
  acting: Acting,
  pid: string,
  { waitMs, maxChars }: { readonly waitMs: number; readonly maxChars: number },
  { signal, waiting }: Pick<Call, 'signal' | 'waiting'>,
): Promise<Answer<z.output<typeof begunOutput>>> {
  const message = `${pid} has begun`
  await waiting({ totalMs: waitMs, message }, acting.wait({ pid, timeoutMs: waitMs }, { signal }))
  // Nobody hears the answer: what it printed stays unread.
  signal.throwIfAborted()
  const unread = await readUnread(acting, pid, maxChars)
  const { process, output, more, lost, readTo } = unread
  const finished = process.endedAt !== null
  const text = `${sentenceOn(process)}\n${shown(unread)}${finished ? '' : `\n${NEXT}`}`
  return { structured: { finished, process, output, more, lost, readTo }, text }
}
