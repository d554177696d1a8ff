import type { ProcessRecord } from '../core/process/record.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { duration } from '../verbs/shapes/scalars.ts'
import { approvalNotes } from './approvals/approval-notes.ts'
import { waitingIn } from './approvals/prompts.ts'
import { outputRoom, pageOf } from './page.ts'
import { describeProcess } from './process-sentences.ts'
import { processTask } from './process-tasks.ts'
import type { ProcessView } from './process-view.ts'
import type { Call, TaskAnswer } from './tool.ts'
import type { Answer } from './tool-result.ts'
import { partsOf, readUnread, structuredUnread } from './unread.ts'
import { settledText } from './wait-answer.ts'

const START_MS = 1_000

export const startWaitMs = duration.max(30_000).default(START_MS).describe('wait so long for its end')

/** A caller that gives a time is answered within it. A task may take as long as the process does. */
export const startOrTaskMs = duration
  .max(30_000)
  .exactOptional()
  .describe('wait so long for its end; 1000 by default')

interface StartOptions {
  readonly waitMs: number | undefined
  readonly maxChars: number
  /** Further notes for the model. */
  notes?(process: ProcessView): readonly string[]
  /** Further members of the structured content. */
  readonly more?: object
}

type Waits = Pick<Call, 'session' | 'signal' | 'waiting' | 'takesTasks' | 'structured' | 'msLeft' | 'prompt'>

/** Waits a moment for the end or the readiness of a process that was just started, and answers with its output so far. */
export async function startAnswer(
  acting: ReeveVerbs,
  record: ProcessRecord,
  asked: StartOptions,
  call: Waits,
): Promise<Answer> {
  const waited = await settledWithin(acting, record, asked.waitMs ?? START_MS, call)
  return soFar(acting, waited, record, asked, call)
}

/** The same; for a client that knows tasks, a process that has not ended by then goes on as a task. */
export async function startAnswerOrTask(
  acting: ReeveVerbs,
  record: ProcessRecord,
  asked: StartOptions,
  call: Waits,
): Promise<Answer | TaskAnswer> {
  const { waitMs } = asked
  const waited = await settledWithin(acting, record, waitMs ?? START_MS, call)
  if (call.takesTasks && waitMs === undefined && waited.type === 'timed_out')
    return { task: processTask(waited.record, call.session) }
  return soFar(acting, waited, record, asked, call)
}

async function settledWithin(acting: ReeveVerbs, record: ProcessRecord, waitMs: number, call: Waits) {
  const { pid } = record
  const { signal, waiting, msLeft } = call
  call.prompt.afterStart(waitingIn(record))
  const timeoutMs = isUnapproved(record) ? 0 : Math.min(waitMs, msLeft())
  const wanted = { pid, timeoutMs, ...(saysWhenReady(record) ? { ready: true as const } : {}) }
  const message = `${pid} has started`
  const waited = await waiting({ totalMs: timeoutMs, message }, acting.wait(wanted, { signal }))
  // The client is gone: the output stays unread.
  signal.throwIfAborted()
  return waited
}

/** A person may take hours to answer. */
function isUnapproved({ gate }: ProcessRecord): boolean {
  return gate?.state === 'pending'
}

function saysWhenReady({ kind, spec }: ProcessRecord): boolean {
  return kind === 'command' && spec['ready'] !== undefined
}

async function soFar(
  acting: ReeveVerbs,
  waited: OutputOf<'wait'>,
  record: ProcessRecord,
  asked: StartOptions,
  call: Waits,
): Promise<Answer> {
  const { maxChars, more = {} } = asked
  const { session, structured } = call
  const room = outputRoom(maxChars, structured)
  const unread = await readUnread(acting, record.pid, { room, turn: session.turn, session })
  const { process } = unread
  const finished = process.endedAt !== null
  const ready = saysWhenReady(record) ? { ready: waited.type === 'ready' } : {}
  const { above, body, notes: about } = partsOf(unread)
  const reasons = await approvalNotes(acting, process)
  const page = {
    head: `${readinessText(waited, record, finished)}${describeProcess(process)}${above}`,
    body,
    notes: [
      ...about,
      ...reasons,
      ...(asked.notes?.(process) ?? []),
      ...(finished ? [] : [nextText(waited, record)]),
    ],
  }
  return {
    structured: { finished, ...ready, ...structuredUnread(unread), ...more },
    text: pageOf(page, maxChars),
  }
}

function readinessText(waited: OutputOf<'wait'>, record: ProcessRecord, finished: boolean): string {
  if (!saysWhenReady(record) || waited.type === 'interrupted') return ''
  if (waited.type === 'timed_out') return finished ? '' : 'Not ready yet. '
  return settledText(waited.type, 'ready', finished)
}

function nextText(waited: OutputOf<'wait'>, record: ProcessRecord): string {
  if (isUnapproved(record))
    return 'A person has been asked. You will be told in the inbox. Do something else meanwhile, or process_wait for its end.'
  const isAwaited = saysWhenReady(record) && waited.type === 'timed_out'
  const wait = isAwaited ? 'process_wait with ready: true' : 'process_wait (its end, or a line)'
  const { pty = false, stdin } = record.spec
  const isTerminal = pty !== false
  const input = isTerminal || stdin === 'pipe' ? ', process_write' : ''
  const screen = isTerminal ? ', process_screen' : ''
  return `It runs on. Next: ${wait}, process_poll (new output)${input}${screen}, process_kill.`
}
