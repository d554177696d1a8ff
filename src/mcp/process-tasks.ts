import { randomUUID } from 'node:crypto'
import { INTERNAL_ERROR, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { pid } from '../verbs/shapes/scalars.ts'
import { wait } from '../verbs/wait.ts'
import { outputRoom, PAGE_CHARS } from './page.ts'
import { describeProcess } from './process-sentences.ts'
import { viewOf } from './process-view.ts'
import type { ClientSession } from './session.ts'
import type { Task, TaskDetails, TaskSource } from './tasks.ts'
import { resultOf } from './tool-result.ts'
import { readUnread, type Unread } from './unread.ts'
import { awaitedIn, waitAnswer } from './wait-answer.ts'

/** The awaited condition of a task, unless that is the end: a line, readiness, or a deadline. `nonce` distinguishes equal waits. */
const taskWait = z.strictObject({
  until: wait.input.shape.until,
  ready: wait.input.shape.ready,
  by: z.number().int().nonnegative().nullable(),
  nonce: z.string(),
})
type TaskWait = z.output<typeof taskWait>

/** An id travels in a header, which is short. A wait for a longer line is no task. */
const MAX_ID_CHARS = 2_000
/** Per session. With more open tasks an id may be issued twice, and the second call waits for the first task. */
const MAX_KNOWN_TASKS = 1_000
const POLL_MS = 1_000
/** How long one search for a line may take. */
const LOOK_MS = 1_000

/**
 * A process as a task. Reeve keeps no list of tasks: the process holds all facts, so a task survives restarts of the client,
 * of this server and of the daemon.
 *
 * | id                        | completed when                                                                  |
 * | the pid                   | the process has ended, with any outcome                                         |
 * | the pid and a `TaskWait`  | the line is printed, the process is ready or has ended, or the deadline is over |
 *
 * Cancelling a task changes nothing: the client stops asking, and the process goes on. Clients also cancel when they merely
 * close; a client that comes back gets the current state.
 */
export function processTask(record: ProcessRecord, { tasks }: Pick<ClientSession, 'tasks'>): Task {
  tasks.add(record.pid)
  const [oldest] = tasks
  if (tasks.size > MAX_KNOWN_TASKS && oldest !== undefined) tasks.delete(oldest)
  return { ...aboutTask(record.pid, record), status: 'working' }
}

/** A wait as a task; null if its id would be too long. Clients reject a second task with an id that they know. */
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

/** The client that asks for a task, and whether it wants structured content. */
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
      // A process of the previous session is not visible in this one, but was this client's task.
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
  // A client that gets the result has seen the end. A wait records that; a read would not.
  const waited = await acting.wait({ pid: taskId, timeoutMs: 0 }, { signal })
  signal.throwIfAborted()
  if (waited.type !== 'ended') {
    const record = waited.type === 'interrupted' ? await acting.show({ pid: taskId }) : waited.record
    return { ...aboutTask(taskId, record), status: 'working' }
  }
  // Reads from the beginning and moves no read position, so that every request gets the same answer.
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

/** The next search goes on from there instead of reading the whole log. */
function scannedTo({ scanned }: ClientSession, taskId: string, offset: number): void {
  scanned.delete(taskId)
  scanned.set(taskId, offset)
  const [oldest] = scanned.keys()
  if (scanned.size > MAX_KNOWN_TASKS && oldest !== undefined) scanned.delete(oldest)
}

function completed(
  { taskId, structured }: AskedTask,
  waited: Exclude<OutputOf<'wait'>, { readonly type: 'interrupted' }>,
  unread: Unread,
  wait: Partial<TaskWait> = {},
): TaskDetails {
  const text = wait.until?.text
  const wanted = { ...awaitedIn(wait), ...(text === undefined ? {} : { text }) }
  const answer = waitAnswer(waited, unread, { maxChars: PAGE_CHARS, afterMs: null, ...wanted })
  return { ...aboutTask(taskId, waited.record), status: 'completed', result: resultOf(answer, structured) }
}

function aboutTask(taskId: string, record: ProcessRecord): Omit<Task, 'status'> {
  return {
    taskId,
    statusMessage: describeProcess(viewOf(record)),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  }
}

/** Ids come from outside: only whole pids are accepted, not prefixes or names. */
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

/** A process that the session may not see does not exist for it. */
function notThere(error: unknown): null {
  if (!(error instanceof ReeveError)) throw error
  if (UNKNOWN.includes(error.code)) return null
  throw new ProtocolError(INTERNAL_ERROR, `${error.message} ${error.remedy}`, { code: error.code })
}
