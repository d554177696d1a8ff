import type { JsonObject } from '../core/json/json.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { rightsOf } from '../core/schedule/occurrence-rights.ts'
import {
  decideDelivery,
  decideOccurrenceEnd,
  mayStartNext,
  triggerCounted,
} from '../core/trigger/decide-delivery.ts'
import type { Delivered, Delivery, Verdict } from '../core/trigger/delivery.ts'
import { occurrenceOfDelivery } from '../core/trigger/occurrence-request.ts'
import { deliveryText, KEPT_DELIVERIES, type Trigger, triggerNamedBy } from '../core/trigger/trigger.ts'
import { cancelOccurrence, type OccurrencePlan } from './occurrences.ts'
import type { PlanPart } from './plan-part.ts'
import { registerOccurrence } from './register-occurrence.ts'

/** The actor of decisions that a trigger makes by itself. */
export const TRIGGERS: Actor = 'kernel:triggers'
/** Decided deliveries are pruned in the commit of every so many. */
const PRUNE_EVERY = 100

/** Something that happened to a trigger, before it is decided on. */
export interface Happening {
  /** As its source names it: the same id is the same delivery. */
  readonly id: string
  readonly payload: JsonObject
  readonly chain: readonly string[]
}

/** Decides on one delivery, and stores it with its verdict; if its process may start, it is registered in the same commit. */
export function* deliver(
  plan: OccurrencePlan,
  id: string,
  { id: delivery, payload, chain }: Happening,
  isMatching: boolean,
  now: number,
): PlanPart<Delivered> {
  const { rows, edges } = plan
  const was = yield* rows.trigger(id)
  if (was === null) throw new Error(`A delivery to ${id}, which is gone`)
  const pid = edges.pidOf(deliveryText(was, delivery))
  const known = yield* rows.delivery(pid)
  if (known !== null) {
    rows.add([{ type: 'trigger', was, trigger: { ...was, counts: triggerCounted(was, 'duplicates') } }])
    return { type: 'duplicate', delivery: known }
  }
  const made = { pid, trigger: id, id: delivery, at: now, reason: null, chain }
  if (!isMatching) {
    addDelivery(plan, was, { ...made, verdict: 'filtered', payload: null }, 'filtered')
    return { type: 'filtered' }
  }
  const decision = decideDelivery(was)
  if (decision.type === 'full') return decision
  if (decision.type === 'skip') {
    addDelivery(plan, was, { ...made, verdict: 'skipped', payload: null }, 'skipped')
    return { type: 'skipped' }
  }
  const queued = addDelivery(plan, was, { ...made, verdict: 'queued', payload }, null)
  const { replaced, cancel } = decision
  const waiting: Trigger = {
    ...queued,
    queue: [...queued.queue.filter((one) => !replaced.includes(one)), pid],
    counts: triggerCounted(queued, 'skipped', replaced.length),
    // The first in the queue was the one that the host had to look at.
    isOpen: queued.isOpen && replaced.length === 0,
  }
  rows.add([{ type: 'trigger', was: queued, trigger: waiting }])
  for (const one of replaced) yield* settle(plan, one, 'skipped')
  for (const one of cancel) yield* cancelOccurrence(plan, one, 'trigger_overlap', now)
  yield* startWaiting(plan, id, now)
  const isQueued = (yield* rows.delivery(pid))?.verdict === 'queued'
  return { type: isQueued ? 'queued' : 'started', pid }
}

/** Registers the waiting deliveries that may start now. If rules or limits refuse one, the trigger pauses and says why. */
export function* startWaiting(plan: OccurrencePlan, id: string, now: number): PlanPart<void> {
  const { rows } = plan
  for (;;) {
    const was = yield* rows.trigger(id)
    if (was === null || !mayStartNext(was)) return
    const [pid = ''] = was.queue
    const delivery = yield* rows.delivery(pid)
    const isThere = delivery === null || (yield* rows.process(pid)) !== null
    const answer = isThere
      ? 'ran'
      : yield* registerOccurrence(plan, rightsOf(was), { pid, ...occurrenceOfDelivery(was, delivery) }, now)
    // The registration may have changed the row, if it ended a process.
    const found = (yield* rows.trigger(id)) ?? was
    if (answer === 'unresolved') {
      rows.add([{ type: 'trigger', was: found, trigger: { ...found, isOpen: true } }])
      return
    }
    if (answer !== 'registered' && answer !== 'ran') {
      pauseTrigger(plan, found, answer.refused, now)
      return
    }
    const process = yield* rows.process(pid)
    const isRunning = process !== null && !hasEnded(process.record)
    rows.add([
      {
        type: 'trigger',
        was: found,
        trigger: {
          ...found,
          queue: found.queue.filter((one) => one !== pid),
          running: isRunning ? [...found.running, { pid, at: now }] : found.running,
          counts: triggerCounted(found, 'started'),
        },
      },
    ])
    yield* settle(plan, pid, 'started')
  }
}

/** The end of a process, in the transaction that writes it: the next delivery of its trigger starts. */
export function* endDelivered(plan: OccurrencePlan, record: ProcessRecord, now: number): PlanPart<void> {
  const { rows } = plan
  const { pid, causedBy, outcome } = record
  const named = triggerNamedBy(causedBy)
  const was = named === null ? null : yield* rows.trigger(named)
  if (was === null || outcome === null) return
  const ended = decideOccurrenceEnd(was, pid, outcome.status, now)
  if (ended === null) return
  rows.add([{ type: 'trigger', was, trigger: ended }])
  if (was.isOpen && was.queue[0] === pid) yield* settle(plan, pid, 'started')
  if (ended.pauseOnFailure && ended.paused === null && ended.counts.failed > was.counts.failed) {
    const reason = outcome.reason === null ? '' : `: ${outcome.reason}`
    pauseTrigger(plan, ended, `${pid} ${outcome.status}${reason}`, now)
    return
  }
  yield* startWaiting(plan, was.id, now)
}

/** Pauses a trigger on its own account, or by an actor. Waiting deliveries wait on. */
export function pauseTrigger(
  { rows }: OccurrencePlan,
  was: Trigger,
  note: string,
  at: number,
  by: Actor = TRIGGERS,
): Trigger {
  const trigger: Trigger = { ...was, paused: { at, by, note: note === '' ? null : note } }
  rows.add([{ type: 'trigger', was, trigger }])
  return trigger
}

/** Stores a new delivery under the next number of its trigger. */
export function addDelivery(
  { rows }: Pick<OccurrencePlan, 'rows'>,
  was: Trigger,
  made: Omit<Delivery, 'number'>,
  counts: 'filtered' | 'skipped' | null,
): Trigger {
  const number = was.deliveries + 1
  const trigger: Trigger = {
    ...was,
    deliveries: number,
    counts: counts === null ? was.counts : triggerCounted(was, counts),
  }
  rows.add([
    { type: 'trigger', was, trigger },
    { type: 'delivery', was: null, delivery: { ...made, number } },
  ])
  if (number % PRUNE_EVERY === 0 && number > KEPT_DELIVERIES)
    rows.add([{ type: 'deliveries_gone', trigger: was.id, through: number - KEPT_DELIVERIES }])
  return trigger
}

/** A decided delivery keeps no payload: the process has it. */
function* settle({ rows }: OccurrencePlan, pid: Pid, verdict: Verdict): PlanPart<void> {
  const was = yield* rows.delivery(pid)
  if (was === null) return
  rows.add([{ type: 'delivery', was, delivery: { ...was, verdict, payload: null } }])
}
