import * as z from 'zod'
import type { Acting } from '../verbs/reeve.ts'
import { duration } from '../verbs/shapes/scalars.ts'
import { processTask } from './process-tasks.ts'
import { processView } from './process-view.ts'
import type { Answer, Call, GoesOn } from './tool.ts'
import { readUnread, shown, unreadOutput } from './unread.ts'
import { sentenceOn } from './words.ts'

const START_MS = 1_000
const mostMs = duration.max(30_000)

export const startWaitMs = mostMs
  .default(START_MS)
  .describe('how long to wait for its end before answering, in milliseconds')

/** Whoever says how long is answered by then. A task may take as long as the process does. */
export const startOrTaskMs = mostMs
  .exactOptional()
  .describe(
    'how long to wait for its end before answering, in milliseconds: 1000, unless your client runs calls as tasks, which last until the end; give it there for what does not end by itself',
  )

export const begunOutput = z.strictObject({
  finished: z.boolean().describe('false: it runs on, under its pid'),
  process: processView,
  ...unreadOutput,
  answer: z.literal('ended').exactOptional().describe('of a task: what was waited for'),
  line: z.null().exactOptional(),
  duplicateOf: z.string().exactOptional().describe('a process that runs the same command since moments ago'),
  sameName: z.string().exactOptional().describe('an older process of this name, which goes on'),
})

const NEXT =
  'It runs on. Next: process_wait (its end, or a line), process_poll (new output), process_write, process_kill.'

interface Asked {
  readonly waitMs: number
  readonly maxChars: number
}

type Waits = Pick<Call, 'session' | 'signal' | 'waiting' | 'takesTasks'>

/** Waits a while for the end of what was just begun, and tells what it printed so far. */
export async function begun(
  acting: Acting,
  pid: string,
  { waitMs, maxChars }: Asked,
  call: Waits,
): Promise<Answer<z.output<typeof begunOutput>>> {
  await endedWithin(acting, pid, waitMs, call)
  return soFar(acting, pid, maxChars, call)
}

/** The same; what has not ended by then goes on as a task, for clients that know what that is. */
export async function begunOrTask(
  acting: Acting,
  pid: string,
  { waitMs, maxChars }: { readonly waitMs: number | undefined; readonly maxChars: number },
  call: Waits,
): Promise<Answer<z.output<typeof begunOutput>> | GoesOn> {
  const waited = await endedWithin(acting, pid, waitMs ?? START_MS, call)
  if (call.takesTasks && waitMs === undefined && waited.type === 'timed_out')
    return { task: processTask(waited.record, call.session) }
  return soFar(acting, pid, maxChars, call)
}

async function endedWithin(acting: Acting, pid: string, waitMs: number, { signal, waiting }: Waits) {
  const message = `${pid} has begun`
  const waited = await waiting(
    { totalMs: waitMs, message },
    acting.wait({ pid, timeoutMs: waitMs }, { signal }),
  )
  // Nobody hears the answer: what it printed stays unread.
  signal.throwIfAborted()
  return waited
}

async function soFar(
  acting: Acting,
  pid: string,
  maxChars: number,
  { session }: Waits,
): Promise<Answer<z.output<typeof begunOutput>>> {
  const unread = await readUnread(acting, pid, { maxChars, turn: session.turn })
  const { process, output, more, lost, readTo } = unread
  const finished = process.endedAt !== null
  const text = `${sentenceOn(process)}\n${shown(unread)}${finished ? '' : `\n${NEXT}`}`
  return { structured: { finished, process, output, more, lost, readTo }, text }
}
