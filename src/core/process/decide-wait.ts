import { withNotice } from '../agent/from-outside.ts'
import { sameJson } from '../json/canonical.ts'
import { asJson, own } from '../json/json.ts'
import { holds } from '../lease/lease.ts'
import { refusal } from '../refusal.ts'
import { isScript } from '../tool/built-in-name.ts'
import { stopping } from './decide-stop.ts'
import {
  alreadyEnded,
  type Decision,
  type Facts,
  type NewEvent,
  newEvent,
  type Rules,
  refuse,
  refuseSize,
  replayConflict,
  staleFence,
} from './decision.ts'
import type { ReservedEvent } from './event.ts'
import { type Intent, type WaitRef, waitEnteredKey, waitLeftKey } from './intent.ts'
import { type Actor, hasEnded, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'
import { type Wait, waitsOf } from './wait.ts'

/** Waits of one workflow at a time: enough for any fan-out that fits in memory, and a bound for the record. */
const MAX_WAITS = 1_000

type WaitLeft = Extract<ReservedEvent, { type: 'wait_left' }>['payload']

/** A signal is durable and ordered: a wait on its name takes it at once, or the next one does. */
export function decideSignal(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'signal' }>,
  rules: Rules,
): Decision {
  const { record } = row
  const type = `signal.${intent.name}`
  const key = `signal:${intent.name}:${intent.id}`
  const payload = { id: intent.id, value: intent.value }
  if (replayed !== null)
    return sameJson(replayed.payload, payload)
      ? { type: 'replay', event: replayed }
      : refuse(replayConflict(record, key))
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  const tooLarge = refuseSize(`The value of signal ${intent.name}`, intent.value, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  const pending = own(record.signals, intent.name)?.pending.length ?? 0
  if (pending >= rules.maxPendingSignals) {
    return refuse(
      refusal(
        'signals_full',
        `${record.pid} has ${pending} signals ${intent.name} that it has not taken.`,
        'Wait until it takes some.',
      ),
    )
  }
  const signalled = newEvent({ type, payload, replayKey: key })
  const wait = waitsOf(record).find(({ on, name }) => on === 'signal' && name === intent.name)
  if (wait === undefined) return { type: 'append', events: [signalled] }
  return {
    type: 'append',
    events: [signalled, left(wait, { how: 'signal', signalSeq: record.revision + 1, value: null })],
  }
}

/**
 * The id of a wait consists of its condition and the number of earlier waits for the same condition. So a later attempt of
 * the same code enters the same wait, and finds the answer that was already given.
 */
export function decideEnterWait(
  { row, replayed, isAsked, waitingMessage = null }: Facts,
  intent: Extract<Intent, { type: 'enter_wait' }>,
): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, intent.fence)) return refuse(staleFence(record, intent.fence))
  if (replayed !== null) return { type: 'replay', event: replayed }
  const waits = waitsOf(record)
  if (waits.some((wait) => isWait(wait, intent.wait))) return { type: 'keep' }
  if (record.wait !== null && (!maySeveral(record) || waits.length >= MAX_WAITS)) {
    return refuse(
      refusal(
        'conflict',
        `${record.pid} already waits on ${record.wait.on} ${record.wait.name}${waits.length > 1 ? ` and ${waits.length - 1} more` : ''}.`,
        record.kind === 'workflow'
          ? 'Wait for fewer things at a time.'
          : 'Finish that wait before the next one: a process waits for one thing at a time.',
      ),
    )
  }
  if (record.status === 'stopping') return refuse(stopping(record))
  if (record.status === 'queued' || record.pausedFrom === 'queued') {
    return refuse(
      refusal('conflict', `${record.pid} has not been begun, so it cannot wait.`, 'Start it first.'),
    )
  }
  const entered = newEvent({
    type: 'wait_entered',
    payload: { ...intent.wait, until: intent.until, ...(isAsked === true ? { again: true } : {}) },
    replayKey: waitEnteredKey(intent.wait, row.fence),
  })
  if (waitingMessage !== null) {
    const answer = { how: 'message', signalSeq: null, messageSeq: waitingMessage, value: null } as const
    return { type: 'append', events: [entered, left(intent.wait, answer)] }
  }
  const first = intent.wait.on === 'signal' ? own(record.signals, intent.wait.name)?.pending[0] : undefined
  if (first === undefined) return { type: 'append', events: [entered] }
  return {
    type: 'append',
    events: [entered, left(intent.wait, { how: 'signal', signalSeq: first, value: null })],
  }
}

/** Workflows, agents and scripts wait for several things at once; a function of a program for one. */
function maySeveral(record: ProcessRecord): boolean {
  return record.kind === 'workflow' || record.agent !== null || isScript(record)
}

/** The executor itself leaves the wait: it timed out, the timer is due, or the child has ended. An earlier answer wins. */
export function decideLeaveWait(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'leave_wait' }>,
): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, intent.fence)) return refuse(staleFence(record, intent.fence))
  if (replayed !== null) return { type: 'replay', event: replayed }
  const wait = waitsOf(record).find((one) => isWait(one, intent.wait))
  if (wait === undefined) return refuse(notWaiting(record.pid, intent.wait))
  return {
    type: 'append',
    events: [left(wait, { how: intent.how, signalSeq: null, value: intent.value })],
  }
}

/**
 * An answer from outside, through the wait's one-shot key. It may arrive before the wait is entered, or between two
 * attempts: the wait then finds itself answered, and no person's answer is lost in a restart.
 */
export function decideAnswer(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'answer' }>,
  rules: Rules,
): Decision {
  if (replayed !== null || hasEnded(row.record)) return { type: 'keep' }
  const tooLarge = refuseSize('The answer', intent.value, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  const wait = waitsOf(row.record).find((one) => isWait(one, intent.wait)) ?? intent.wait
  return {
    type: 'append',
    events: [left(wait, { how: 'answered', signalSeq: null, value: intent.value })],
  }
}

/** The events of a process that waits for another one to end: its wait is over, with the outcome as the value. */
export function decideAwaitedEnd(
  row: ProcessRow,
  ended: ProcessRecord,
  asked: { readonly actor: Actor; readonly at: number },
): readonly NewEvent[] {
  const { record } = row
  const left = waitsLeft(record, ended)
  if (left.length > 0 || hasEnded(record)) return left
  // An agent hears of it before its next model call; if it is idle, that begins a turn.
  const parts = [{ type: 'text', text: `${ended.pid} has ended: ${ended.status}.` }]
  return withNotice(row, left, { id: `ended:${ended.pid}`, cause: 'child', parts }, asked)
}

function waitsLeft(record: ProcessRecord, ended: ProcessRecord): readonly NewEvent[] {
  return waitsOf(record)
    .filter(({ on, name }) => on === 'child' && name === ended.pid)
    .map((wait) =>
      left(wait, {
        how: 'ended',
        signalSeq: null,
        value: ended.outcome === null ? null : asJson(ended.outcome),
      }),
    )
}

export function left(wait: WaitRef, how: Pick<WaitLeft, 'how' | 'signalSeq' | 'messageSeq' | 'value'>) {
  const { on, name, ordinal, stepIndex } = wait
  const payload = { on, name, ordinal, ...how, ...(stepIndex === undefined ? {} : { stepIndex }) }
  return newEvent({ type: 'wait_left', payload, replayKey: waitLeftKey(wait) })
}

export function isWait(wait: Wait, ref: WaitRef): boolean {
  return wait.on === ref.on && wait.name === ref.name && wait.ordinal === ref.ordinal
}

function notWaiting(pid: string, wait: WaitRef) {
  return refusal(
    'not_waiting',
    `${pid} does not wait on ${wait.on} ${wait.name} (${wait.ordinal}).`,
    'Look at its record to see what it waits for.',
  )
}
