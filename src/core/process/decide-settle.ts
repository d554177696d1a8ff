import { holds, type Lease } from '../lease/lease.ts'
import { refusal } from '../refusal.ts'
import { stopped } from './decide-stop.ts'
import {
  alreadyEnded,
  append,
  type Decision,
  ended,
  newEvent,
  refuse,
  staleFence,
  whileLive,
} from './decision.ts'
import type { Intent } from './intent.ts'
import { type Evidence, hasEnded, type Outcome, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'

/** Recovery's writes: each is a compare-and-swap on the lease that the verdict was based on. */

export function decidePutBack(row: ProcessRow, intent: Extract<Intent, { type: 'put_back' }>): Decision {
  // Requested after the verdict: a queued process would have no holder to end it.
  if (row.record.abandonRequest !== null)
    return decideAbandon(row, { ...intent, type: 'abandon', evidence: 'requested' })
  if (row.record.stopRequest !== null) return decideSettleStop(row, { ...intent, type: 'settle_stop' })
  return onObserved(row, intent.observed, () => ({
    type: 'append',
    events: [
      newEvent({
        type: 'holder_lost',
        payload: { holder: row.holder, evidence: intent.evidence, retryAt: intent.retryAt },
      }),
    ],
    lease: free(row),
  }))
}

export function decideAbandon(row: ProcessRow, intent: Extract<Intent, { type: 'abandon' }>): Decision {
  const { observed, evidence, at, result = null } = intent
  return onObserved(row, observed, () => ({
    type: 'append',
    events: [ended({ ...abandoned(row.record, evidence, at), result }, `abandon:${row.fence}`)],
    lease: free(row),
  }))
}

export function decideGiveUp(row: ProcessRow, intent: Extract<Intent, { type: 'give_up' }>): Decision {
  const { attempts, journal, limits, agent } = row.record
  // It ended a step after the verdict, so it has attempts left again. An agent always has: crashes end its turns.
  if (agent !== null || (journal !== null && attempts - journal.attempts < limits.attempts))
    return decidePutBack(row, { ...intent, type: 'put_back', evidence: 'holder_dead', retryAt: intent.at })
  return onObserved(row, intent.observed, () => ({
    type: 'append',
    events: [
      ended(
        { ...stopped(row.record, intent.reason, null, intent.at), status: 'failed' },
        `give_up:${row.fence}`,
      ),
    ],
    lease: free(row),
  }))
}

/** The holder died during a stop, and the process would not run again: so the stop is its end. */
export function decideSettleStop(
  row: ProcessRow,
  intent: Extract<Intent, { type: 'settle_stop' }>,
): Decision {
  const request = row.record.stopRequest
  if (request === null) return { type: 'keep' }
  return onObserved(row, intent.observed, () => ({
    type: 'append',
    events: [
      ended(stopped(row.record, request.reason, request.source, intent.at), `settle_stop:${row.fence}`),
    ],
    lease: free(row),
  }))
}

/** The keeper is dead, and the program may live: the next keeper holds it from here on, under a fence of its own. */
export function decideTakeOver(row: ProcessRow, intent: Extract<Intent, { type: 'take_over' }>): Decision {
  return onObserved(row, intent.observed, () => ({
    type: 'append',
    events: [newEvent({ type: 'taken_over', payload: { from: row.holder, holder: intent.holder } })],
    lease: { holder: intent.holder, fence: row.fence + 1 },
  }))
}

/** An orderly shutdown: a process that can move is queued again; any other ends here, with that evidence. */
export function decideRelease(row: ProcessRow, intent: Extract<Intent, { type: 'release' }>): Decision {
  const { record } = row
  if (hasEnded(record) || !holds(row, intent.fence)) return { type: 'keep' }
  if (record.abandonRequest !== null) {
    const outcome = abandoned(record, 'requested', intent.at)
    return { type: 'append', events: [ended(outcome, `release:${row.fence}`)], lease: free(row) }
  }
  const begun = record.status !== 'queued' && record.pausedFrom !== 'queued'
  if (!begun && record.stopRequest === null) return { type: 'append', events: [], lease: free(row) }
  if (record.stopRequest !== null) {
    const outcome = stopped(record, record.stopRequest.reason, record.stopRequest.source, intent.at)
    return { type: 'append', events: [ended(outcome, `release:${row.fence}`)], lease: free(row) }
  }
  const events =
    record.recovery === 'rerunnable'
      ? [newEvent({ type: 'released', payload: { holder: intent.fence.holder } })]
      : [ended(abandoned(record, 'holder_drain', intent.at), `release:${row.fence}`)]
  return { type: 'append', events, lease: free(row) }
}

/** A process without a holder ends at once; any other ends when its lease has lapsed. The first request counts. */
export function decideRequestAbandon(
  row: ProcessRow,
  intent: Extract<Intent, { type: 'request_abandon' }>,
): Decision {
  return whileLive(row, () => {
    const { record } = row
    if (record.abandonRequest !== null) return { type: 'keep' }
    const requested = { type: 'abandon_requested', payload: { reason: intent.reason, source: intent.actor } }
    if (row.holder !== null) return append(requested)
    const outcome = {
      ...abandoned(record, 'requested', intent.at),
      reason: intent.reason,
      source: intent.actor,
    }
    return {
      type: 'append',
      events: [newEvent(requested), ended(outcome, 'abandon_requested')],
      lease: free(row),
    }
  })
}

function onObserved(row: ProcessRow, observed: Lease, then: () => Decision): Decision {
  if (hasEnded(row.record)) return refuse(alreadyEnded(row.record))
  if (row.holder !== observed.holder || row.fence !== observed.fence) {
    if (observed.holder !== null)
      return refuse(staleFence(row.record, { holder: observed.holder, fence: observed.fence }))
    return refuse(
      refusal(
        'busy',
        `${row.record.pid} was taken by ${row.holder} meanwhile.`,
        'Do nothing: another kernel recovers it.',
      ),
    )
  }
  return then()
}

function free(row: ProcessRow): Lease {
  return { holder: null, fence: row.fence }
}

function abandoned(record: ProcessRecord, evidence: Evidence, endedAt: number): Outcome {
  const { stopRequest } = record
  // A stop that reached the process explains its end; its exit code is still unknown.
  if (evidence === 'process_gone' && stopRequest?.deliveredAt !== undefined)
    return { ...stopped(record, stopRequest.reason, stopRequest.source, endedAt), evidence }
  const request = evidence === 'requested' ? record.abandonRequest : null
  return {
    ...stopped(record, request?.reason ?? evidence, request?.source ?? null, endedAt),
    status: 'abandoned',
    evidence,
  }
}
