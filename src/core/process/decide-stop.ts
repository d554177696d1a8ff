import { refusal } from '../refusal.ts'
import { append, type Decision, ended, type Facts, newEvent, refuse, whileLive } from './decision.ts'
import type { Intent } from './intent.ts'
import { hasEnded, type Outcome, type ProcessRecord, STOPS, type StopHow } from './record.ts'
import type { ProcessRow } from './row.ts'

/**
 * A request to end. A process with a holder gets the request, and its executor settles the stop; a process without one ends here
 * and now. An external process is only told, because Reeve cannot end it.
 */
export function decideStop({ row, replayed }: Facts, intent: Extract<Intent, { type: 'stop' }>): Decision {
  const { record } = row
  if (hasEnded(record)) return { type: 'keep' }
  if (replayed !== null) return { type: 'replay', event: replayed }
  if (record.stopRequest !== null && !isStronger(intent, record.stopRequest)) return { type: 'keep' }
  const requested = newEvent({
    type: 'stop_requested',
    payload: {
      how: intent.how,
      reason: intent.reason,
      source: intent.actor,
      cause: intent.cause,
      ...(intent.graceMs === undefined ? {} : { graceMs: intent.graceMs }),
    },
    replayKey: intent.replayKey,
  })
  if (row.holder !== null || record.recovery === 'external') return { type: 'append', events: [requested] }
  const outcome = stopped(record, intent.reason, intent.actor, intent.at)
  return {
    type: 'append',
    events: [requested, ended(outcome, `${intent.replayKey}:ended`)],
    lease: { holder: null, fence: row.fence },
  }
}

/** A stronger stop that was requested since then has not reached the process yet. */
export function decideConfirmStop(
  row: ProcessRow,
  { delivered }: Extract<Intent, { type: 'confirm_stop' }>,
): Decision {
  return whileLive(row, () => {
    const { stopRequest } = row.record
    const isNew = stopRequest?.how === delivered.how && stopRequest.deliveredAt === undefined
    return isNew ? append({ type: 'stop_delivered', payload: delivered }) : { type: 'keep' }
  })
}

export function decidePause(row: ProcessRow, intent: Extract<Intent, { type: 'pause' }>): Decision {
  return whileLive(row, () => {
    if (row.record.status === 'paused') return { type: 'keep' }
    if (row.record.status === 'stopping') return refuse(stopping(row.record))
    return append({ type: 'paused', payload: { source: intent.actor } })
  })
}

export function decideResume(row: ProcessRow, intent: Extract<Intent, { type: 'resume' }>): Decision {
  return whileLive(row, () => {
    if (row.record.status === 'paused') return append({ type: 'resumed', payload: { source: intent.actor } })
    return refuse(
      refusal(
        'not_paused',
        `${row.record.pid} is ${row.record.status}, not paused.`,
        'Only a paused process can be resumed.',
      ),
    )
  })
}

/** The outcome of a process that was stopped on request and had no executor to settle it. */
export function stopped(
  record: ProcessRecord,
  reason: string,
  source: Outcome['source'],
  endedAt: number,
): Outcome {
  return {
    status: 'cancelled',
    exitCode: null,
    signal: null,
    reason,
    source,
    result: null,
    evidence: null,
    startedAt: record.firstStarted?.at ?? null,
    endedAt,
  }
}

export function stopping(record: ProcessRecord) {
  return refusal(
    'stopping',
    `${record.pid} is being stopped (${record.stopRequest?.reason ?? 'on request'}).`,
    'Wait for its outcome.',
  )
}

/** Another grace makes another request: the caller may shorten a grace that it gave before. */
function isStronger(
  asked: Extract<Intent, { type: 'stop' }>,
  before: { readonly how: StopHow; readonly graceMs?: number },
): boolean {
  if (asked.how !== before.how) return strength(asked.how) > strength(before.how)
  return asked.graceMs !== undefined && asked.graceMs !== before.graceMs
}

function strength(how: StopHow): number {
  return STOPS.indexOf(how)
}
