import { holds } from '../lease/lease.ts'
import { refusal } from '../refusal.ts'
import { stopped, stopping } from './decide-stop.ts'
import { alreadyEnded, type Decision, ended, refuse, staleFence } from './decision.ts'
import type { Intent } from './intent.ts'
import { hasEnded, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'

/** How long a tool or a workflow may take to stop, if the request does not say. */
const HANDLER_STOP_GRACE_MS = 30_000

/** When a stop that its executor does not answer is given up. Null: never, because the request says 0. */
export function stopOverdueAt({
  at,
  graceMs = HANDLER_STOP_GRACE_MS,
}: Pick<NonNullable<ProcessRecord['stopRequest']>, 'at' | 'graceMs'>): number | null {
  return graceMs === 0 ? null : at + graceMs
}

/** Whether its stop can be given up: commands and external processes end when their programs are seen gone. */
export function mayGiveUpStop({ kind, recovery }: Pick<ProcessRecord, 'kind' | 'recovery'>): boolean {
  return kind !== 'command' && recovery !== 'external'
}

/**
 * The grace is over, and the code was not seen to stop: it ignores its abort signal. The process ends with that evidence, and
 * its lease is free, so that later writes of the code are refused by their fence.
 */
export function decideGiveUpStop(
  row: ProcessRow,
  intent: Extract<Intent, { type: 'give_up_stop' }>,
): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, intent.fence)) return refuse(staleFence(record, intent.fence))
  const request = record.stopRequest
  if (request === null || !mayGiveUpStop(record))
    return refuse(
      refusal(
        'conflict',
        `${record.pid} is a ${record.kind} that is ${record.status}: no stop of it can be given up.`,
        'Ask it to stop first; commands and external processes end when they are seen to end.',
      ),
    )
  const overdueAt = stopOverdueAt(request)
  if (overdueAt === null || intent.at < overdueAt) return refuse(stopping(record))
  const outcome = stopped(record, request.reason, request.source, intent.at)
  return {
    type: 'append',
    events: [ended({ ...outcome, evidence: 'not_seen_to_stop' }, `give_up_stop:${row.fence}`)],
    lease: { holder: null, fence: row.fence },
  }
}
