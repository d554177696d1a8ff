import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import { type WaitRef, waitEnteredKey, waitLeftKey } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { WAITS, type WaitOn } from '../core/process/wait.ts'
import { refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import type { Feed } from './feed.ts'
import { type Performed, perform } from './perform.ts'
import { performAs } from './perform-as.ts'
import { waitForEvent } from './wait.ts'

export type Answered = { readonly type: 'answered'; readonly value: Json } | { readonly type: 'timed_out' }

/**
 * An executor's durable wait for a signal, a message, an answer or a time. The log records its end, so that a later attempt
 * that enters the same wait gets the same answer. Rejects when the process is being stopped.
 */
export async function awaitAnswer(
  edges: Edges,
  feed: Feed,
  work: Work,
  wait: WaitRef,
  asUntil: number | null,
): Promise<Answered> {
  const { pid } = work.record
  const until = asUntil === null ? null : ((await firstUntil(edges, work, wait)) ?? asUntil)
  const entered = await performAs(edges, work, { type: 'enter_wait', wait, until })
  const early = await leftAlready(edges, entered, pid, wait)
  if (early !== undefined) return answerOf(edges, pid, early)
  const timeoutMs = until === null ? undefined : Math.max(0, until - edges.clock.now())
  const key = waitLeftKey(wait)
  let sent: StoredEvent | null = null
  const waited = await waitForEvent(
    edges,
    feed,
    pid,
    entered.type === 'refused' ? 0 : entered.row.record.revision,
    (event) => {
      if (event.type === (wait.on === 'message' ? 'message_received' : `signal.${wait.name}`)) sent = event
      return event.replayKey === key
    },
    {
      signal: work.signal,
      waiter: work,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
  )
  if (waited.type === 'interrupted' || (waited.type === 'done' && waited.value === null)) {
    throw work.signal.reason ?? new Error(`${pid} has ended`)
  }
  if (waited.type === 'done' && waited.value !== null) return answerOf(edges, pid, waited.value, sent)
  const how = wait.on === 'timer' ? 'due' : 'timed_out'
  const left = await performAs(edges, work, { type: 'leave_wait', wait, how, value: null })
  if (left.type === 'replayed') return answerOf(edges, pid, left.event)
  if (left.type === 'refused') throw new RefusedError(left.refusal)
  return how === 'due' ? { type: 'answered', value: null } : { type: 'timed_out' }
}

/** A one-shot key: names the wait, and proves that it came from this store. */
export async function keyOf(edges: Edges, pid: Pid, wait: WaitRef): Promise<string> {
  const name = `${pid}.${wait.on}.${wait.name}.${wait.ordinal}`
  return `${name}.${edges.sign(await edges.store.ask({ ask: 'secret' }), name)}`
}

export async function answerByKey(
  edges: Edges,
  actor: Actor,
  key: string,
  value: Json,
): Promise<'accepted' | 'already_resolved' | 'unknown'> {
  const wait = await openKey(edges, key)
  if (wait === undefined) return 'unknown'
  // The key itself is the authority: any actor that has it may answer, and the log says which one did.
  const byKey: Edges = { ...edges, authorize: () => undefined }
  const performed = await perform(byKey, {
    type: 'answer',
    pid: wait.pid,
    wait,
    value,
    actor,
    at: edges.clock.now(),
  })
  switch (performed.type) {
    case 'appended':
      return 'accepted'
    case 'kept':
      return 'already_resolved'
    case 'replayed':
      return 'unknown'
    case 'refused':
      if (performed.refusal.code === 'payload_too_large') throw new RefusedError(performed.refusal)
      return 'unknown'
  }
}

async function openKey(edges: Edges, key: string): Promise<(WaitRef & { pid: Pid }) | undefined> {
  const match = /^(p_[0-9a-z]{12})\.([a-z]+)\.([A-Za-z0-9_-]+)\.([1-9][0-9]{0,8})\.([0-9a-f]+)$/.exec(key)
  if (match === null) return undefined
  const [, pid = '', on = '', name = '', ordinal = '', signature = ''] = match
  const expected = edges.sign(await edges.store.ask({ ask: 'secret' }), `${pid}.${on}.${name}.${ordinal}`)
  if (!edges.sameText(signature, expected) || !isWaitOn(on)) return undefined
  return { pid, on, name, ordinal: Number(ordinal) }
}

function isWaitOn(text: string): text is WaitOn {
  return (WAITS as readonly string[]).includes(text)
}

async function leftAlready(
  edges: Edges,
  entered: Performed,
  pid: Pid,
  wait: WaitRef,
): Promise<StoredEvent | undefined> {
  if (entered.type === 'refused') throw new RefusedError(entered.refusal)
  if (entered.type === 'replayed') return entered.event
  if (entered.type === 'kept' || entered.row.record.wait !== null) return undefined
  return (await edges.store.ask({ ask: 'event', pid, replayKey: waitLeftKey(wait) })) ?? undefined
}

/** `heard`: the last signal of that name, or message, that the feed brought, to save a read. */
async function answerOf(
  edges: Edges,
  pid: Pid,
  event: StoredEvent,
  heard: StoredEvent | null = null,
): Promise<Answered> {
  const known = knownEvent(event)
  if (known?.type !== 'wait_left')
    throw new Error(`Event ${event.seq} of ${pid} is a ${event.type}, and no end of a wait`)
  const left = known.payload
  if (left.how === 'timed_out') return { type: 'timed_out' }
  const seq =
    left.how === 'signal' ? left.signalSeq : left.how === 'message' ? (left.messageSeq ?? null) : null
  if (seq === null) return { type: 'answered', value: left.value }
  const sent = heard?.seq === seq ? heard : await edges.store.ask({ ask: 'eventAt', pid, seq })
  if (sent === null) throw new RefusedError(prunedMeanwhile(pid))
  const value = left.how === 'message' ? sent.payload : (sent.payload as { value: Json }).value
  return { type: 'answered', value }
}

/** The deadline that the first holder set: it holds for later holders. */
async function firstUntil(edges: Edges, work: Work, wait: WaitRef): Promise<number | null> {
  const { pid } = work.record
  const own = work.fence().fence
  for (let fence = 1; fence < own; fence++) {
    const entered = await edges.store.ask({ ask: 'event', pid, replayKey: waitEnteredKey(wait, fence) })
    const known = entered === null ? null : knownEvent(entered)
    if (known?.type === 'wait_entered') return known.payload.until
  }
  return null
}

/** This kernel slept so long that others have abandoned and pruned the process that it still executes. */
function prunedMeanwhile(pid: Pid) {
  return refusal('pruned_pid', `${pid} ended and has been pruned.`, 'Stop working on it.')
}
