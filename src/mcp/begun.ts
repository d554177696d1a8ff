import type { Acting } from '../verbs/reeve.ts'
import { duration } from '../verbs/shapes/scalars.ts'
import { outputRoom, pageOf } from './page.ts'
import { processTask } from './process-tasks.ts'
import type { Call, GoesOn } from './tool.ts'
import type { Answer } from './tool-result.ts'
import { readUnread, shown, structuredUnread } from './unread.ts'
import { sentenceOn } from './words.ts'

const START_MS = 1_000

export const startWaitMs = duration.max(30_000).default(START_MS).describe('wait so long for its end')

/** Whoever says how long is answered by then. A task may take as long as the process does. */
export const startOrTaskMs = duration
  .max(30_000)
  .exactOptional()
  .describe('wait so long for its end; 1000 by default')

const NEXT =
  'It runs on. Next: process_wait (its end, or a line), process_poll (new output), process_write, process_kill.'

interface Asked {
  readonly waitMs: number | undefined
  readonly maxChars: number
  /** What else the model should know. */
  readonly notes?: readonly string[]
  /** What else programs should know. */
  readonly more?: object
}

type Waits = Pick<Call, 'session' | 'signal' | 'waiting' | 'takesTasks' | 'structured' | 'patienceLeft'>

/** Waits a while for the end of what was just begun, and tells what it printed so far. */
export async function begun(acting: Acting, pid: string, asked: Asked, call: Waits): Promise<Answer> {
  await endedWithin(acting, pid, asked.waitMs ?? START_MS, call)
  return soFar(acting, pid, asked, call)
}

/** The same; what has not ended by then goes on as a task, for clients that know what that is. */
export async function begunOrTask(
  acting: Acting,
  pid: string,
  asked: Asked,
  call: Waits,
): Promise<Answer | GoesOn> {
  const { waitMs } = asked
  const waited = await endedWithin(acting, pid, waitMs ?? START_MS, call)
  if (call.takesTasks && waitMs === undefined && waited.type === 'timed_out')
    return { task: processTask(waited.record, call.session) }
  return soFar(acting, pid, asked, call)
}

async function endedWithin(acting: Acting, pid: string, waitMs: number, call: Waits) {
  const { signal, waiting, patienceLeft } = call
  const timeoutMs = Math.min(waitMs, patienceLeft())
  const message = `${pid} has begun`
  const waited = await waiting({ totalMs: timeoutMs, message }, acting.wait({ pid, timeoutMs }, { signal }))
  // Nobody hears the answer: what it printed stays unread.
  signal.throwIfAborted()
  return waited
}

async function soFar(acting: Acting, pid: string, asked: Asked, call: Waits): Promise<Answer> {
  const { maxChars, notes = [], more = {} } = asked
  const { session, structured } = call
  const room = outputRoom(maxChars, structured)
  const unread = await readUnread(acting, pid, { room, turn: session.turn, session })
  const { process } = unread
  const finished = process.endedAt !== null
  const { above, body, notes: about } = shown(unread)
  const page = {
    head: `${sentenceOn(process)}${above}`,
    body,
    notes: [...about, ...notes, ...(finished ? [] : [NEXT])],
  }
  return {
    structured: { finished, ...structuredUnread(unread), ...more },
    text: pageOf(page, maxChars),
  }
}
