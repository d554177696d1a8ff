import { randomUUID } from 'node:crypto'
import { INTERNAL_ERROR, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { pid } from '../verbs/shapes/scalars.ts'
import { wait } from '../verbs/wait.ts'
import { outputRoom, PAGE_CHARS } from './page.ts'
import { viewOf } from './process-view.ts'
import type { ClientSession } from './session.ts'
import type { Task, TaskDetails, TaskSource } from './tasks.ts'
import { resultOf } from './tool-result.ts'
import { readUnread, type Unread } from './unread.ts'
import { awaitedIn, waitedFor } from './waited.ts'
import { sentenceOn } from './words.ts'

/** What is waited for, where the pid alone does not say it: a line, that it is ready, or only until a time. `nonce` tells it from others like it. */
const taskWait = z.strictObject({
  until: wait.input.shape.until,
  ready: wait.input.shape.ready,
  by: z.number().int().nonnegative().nullable(),
  nonce: z.string(),
})
type TaskWait = z.output<typeof taskWait>

/** An id travels in a header, and those are short. A wait for a longer line is no task. */
const MAX_ID_CHARS = 2_000
/** Of one session. Who has more of them open at once may be given an id twice, and waits for the first. */
const MAX_KNOWN = 1_000
const POLL_MS = 1_000
/** How long a look for a line may take. */
const LOOK_MS = 1_000

/**
 * A process as a task. There is no list of tasks: what is to be known of one is the process's own, and is found again by
 * whoever asks for it, whatever was restarted in between.
 *
 * | the id is                 | it is completed when                                                            |
 * | the pid                   | the process has ended, however it did                                           |
 * | the pid, and a `TaskWait` | the line is printed, or it is ready, or the process has ended, or the time is over |
 *
 * To cancel one changes nothing: whoever waited stops asking, and the process goes on. Clients cancel also when they merely
 * close; what comes back later is told how it is.
 */
export function processTask(record: ProcessRecord, { tasks }: Pick<ClientSession, 'tasks'>): Task {
  tasks.add(record.pid)
  const [oldest] = tasks
  if (tasks.size > MAX_KNOWN && oldest !== undefined) tasks.delete(oldest)
  return { ...aboutTask(record.pid, record), status: 'working' }
}

/** A wait as a task; null where its id would be too long. Clients do not take a second task under the id of one they have. */
export function waitTask(
  record: ProcessRecord,
  session: Pick<ClientSession, 'tasks'>,
  asked: Omit<TaskWait, 'nonce'>,
): Task | null {
  const isForItsEnd = asked.until === undefined && asked.ready !== true && asked.by === null
  if (isForItsEnd && !session.tasks.has(record.pid)) return processTask(record, session)
  const text = JSON.stringify({ ...asked, nonce: randomUUID().slice(0, 8) } satisfies TaskWait)
  const taskId = `${record.pid}.${Buffer.from(text).toString('base64url')}`
  return taskId.length > MAX_ID_CHARS ? null : { ...aboutTask(taskId, record), status: 'working' }
}

/** Who asks for a task, and in which form they want its result. */
interface TaskAsker {
  readonly session: ClientSession
  readonly structured: boolean
}

export function processTasks(askerFor: (ctx: ServerContext) => Promise<TaskAsker>): TaskSource {
  return {
    async find(taskId, ctx) {
      const wanted = wantedBy(taskId)
      if (wanted === null) return null
      const { session, structured } = await askerFor(ctx)
      const asked = { taskId, session, structured, signal: ctx.mcpReq.signal }
      const look = async (acting: ReeveVerbs) => {
        try {
          return wanted.wait === null
            ? await endOf(acting, asked)
            : await waitOf(acting, wanted.pid, wanted.wait, asked)
        } catch (error) {
          return notThere(error)
        }
      }
      const acting = await session.acting()
      // What the session before this one left behind is no process of this one, but was this client's task.
      const { previous } = session
      const task = (await look(acting)) ?? (previous === null ? null : await look(previous.acting))
      if (task?.status !== 'working') forget(session, taskId)
      return task
    },
    async cancel(taskId, ctx) {
      forget((await askerFor(ctx)).session, taskId)
    },
  }
}

function forget({ tasks, scanned }: ClientSession, taskId: string): void {
  tasks.delete(taskId)
  scanned.delete(taskId)
}

interface AskedTask extends TaskAsker {
  readonly taskId: string
  readonly signal: AbortSignal
}

async function endOf(acting: ReeveVerbs, asked: AskedTask): Promise<TaskDetails> {
  const { taskId, signal } = asked
  // Who gets the result has been told of the end: that is what a wait says, and a look does not.
  const waited = await acting.wait({ pid: taskId, timeoutMs: 0 }, { signal })
  signal.throwIfAborted()
  if (waited.type !== 'ended') {
    const record = waited.type === 'interrupted' ? await acting.show({ pid: taskId }) : waited.record
    return { ...aboutTask(taskId, record), status: 'working' }
  }
  // From the beginning, and without noting it: the answer is the same however often it is asked for.
  return completed(asked, waited, await readFrom(acting, taskId, 0, asked))
}

function readFrom(acting: ReeveVerbs, ref: string, from: number, asked: AskedTask): Promise<Unread> {
  const { session, structured } = asked
  return readUnread(acting, ref, { room: outputRoom(PAGE_CHARS, structured), turn: session.turn, from })
}

async function waitOf(
  acting: ReeveVerbs,
  ref: string,
  wanted: TaskWait,
  asker: AskedTask,
): Promise<TaskDetails> {
  const { until, ready, by } = wanted
  const { taskId, session, signal } = asker
  const from = until?.from ?? 0
  const asked =
    until === undefined
      ? { timeoutMs: 0, ...(ready === undefined ? {} : { ready }) }
      : { until: { ...until, from: Math.max(from, session.scanned.get(taskId) ?? 0) }, timeoutMs: LOOK_MS }
  const waited = await acting.wait({ pid: ref, ...asked }, { signal })
  signal.throwIfAborted()
  if (waited.type === 'interrupted' || (waited.type === 'timed_out' && (by === null || Date.now() < by))) {
    const record = waited.type === 'interrupted' ? await acting.show({ pid: ref }) : waited.record
    if (waited.type === 'timed_out' && waited.scannedTo !== undefined)
      scannedTo(session, taskId, waited.scannedTo)
    return { ...aboutTask(taskId, record), status: 'working' }
  }
  return completed(asker, waited, await readFrom(acting, ref, from, asker), wanted)
}

/** The next look goes on from there, and need not read the whole log. */
function scannedTo({ scanned }: ClientSession, taskId: string, offset: number): void {
  scanned.delete(taskId)
  scanned.set(taskId, offset)
  const [oldest] = scanned.keys()
  if (scanned.size > MAX_KNOWN && oldest !== undefined) scanned.delete(oldest)
}

function completed(
  { taskId, structured }: AskedTask,
  waited: Exclude<OutputOf<'wait'>, { readonly type: 'interrupted' }>,
  unread: Unread,
  wait: Partial<TaskWait> = {},
): TaskDetails {
  const text = wait.until?.text
  const wanted = { ...awaitedIn(wait), ...(text === undefined ? {} : { text }) }
  const answer = waitedFor(waited, unread, { maxChars: PAGE_CHARS, afterMs: null, ...wanted })
  return { ...aboutTask(taskId, waited.record), status: 'completed', result: resultOf(answer, structured) }
}

function aboutTask(taskId: string, record: ProcessRecord): Omit<Task, 'status'> {
  return {
    taskId,
    statusMessage: sentenceOn(viewOf(record)),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  }
}

/** Ids come from outside. What no task was ever given is none; beginnings of pids and names are for people. */
function wantedBy(taskId: string): { readonly pid: string; readonly wait: TaskWait | null } | null {
  const [ref = '', rest, ...more] = taskId.split('.')
  if (!pid.safeParse(ref).success || more.length > 0 || taskId.length > MAX_ID_CHARS) return null
  if (rest === undefined) return { pid: ref, wait: null }
  try {
    const text = Buffer.from(rest, 'base64url').toString('utf8')
    return { pid: ref, wait: taskWait.parse(JSON.parse(text)) }
  } catch {
    return null
  }
}

const UNKNOWN: readonly string[] = ['unknown_pid', 'pruned_pid', 'denied', 'not_command']

/** What a session may not see is not there, for it. */
function notThere(error: unknown): null {
  if (!(error instanceof ReeveError)) throw error
  if (UNKNOWN.includes(error.code)) return null
  throw new ProtocolError(INTERNAL_ERROR, `${error.message} ${error.remedy}`, { code: error.code })
}
