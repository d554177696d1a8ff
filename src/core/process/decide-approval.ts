import { holds } from '../lease/lease.ts'
import { refusal } from '../refusal.ts'
import { stopped } from './decide-stop.ts'
import { alreadyEnded, type Decision, ended, newEvent, refuse, staleFence } from './decision.ts'
import type { ApprovalRequested } from './event.ts'
import { awaitsApproval } from './gate.ts'
import type { Intent } from './intent.ts'
import { hasEnded, type Outcome, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'

/** The event of a process that is registered unbegun, until an approval lets it begin. */
export function approvalRequested(payload: ApprovalRequested) {
  return newEvent({ type: 'approval_requested', payload, replayKey: `approval:${payload.approval}` })
}

/**
 * An approval lets the process begin; everything else ends it, so that no expiry and no denial can start it. An approval
 * that is not the pending one changes nothing.
 */
export function decideSettleApproval(
  row: ProcessRow,
  { settled, value = null, at }: Extract<Intent, { type: 'settle_approval' }>,
): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!awaitsApproval(record) || record.gate?.approval !== settled.approval) return { type: 'keep' }
  const event = newEvent({
    type: 'approval_settled',
    payload: settled,
    replayKey: `approval:${settled.approval}:settled`,
  })
  if (settled.how === 'approved') return { type: 'append', events: [event] }
  const outcome: Outcome =
    settled.how === 'answered'
      ? { ...stopped(record, 'answered', settled.by, at), status: 'completed', result: value }
      : {
          ...stopped(record, `approval_${settled.how}`, settled.by, at),
          result: settled.advice === undefined ? null : { advice: settled.advice },
        }
  return { type: 'append', events: [event, ended(outcome, `approval:${settled.approval}:ended`)] }
}

/** Only before the program starts: the executor compares the action once, and then begins. */
export function decideAskAgain(
  row: ProcessRow,
  { requested, fence }: Extract<Intent, { type: 'ask_again' }>,
): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, fence)) return refuse(staleFence(record, fence))
  if (!isRuledOn(record) || record.program !== null) return refuse(notGated(record))
  return {
    type: 'append',
    events: [approvalRequested({ ...requested, again: true })],
    lease: { holder: null, fence: row.fence },
  }
}

/** Whether an approval or rules let it begin. */
function isRuledOn({ gate, ruledOn }: ProcessRecord): boolean {
  return gate === null ? ruledOn !== undefined : gate.state === 'approved'
}

function notGated({ pid }: ProcessRecord) {
  return refusal(
    'conflict',
    `${pid} needs no approval, or has begun already.`,
    'An approval is asked for before a process begins.',
  )
}
