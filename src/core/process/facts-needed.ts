import { softLimitAskedBy } from '../agent/soft-limit-question.ts'
import { type AccountId, accountOf } from '../allowance/account.ts'
import { reviewedBy } from '../approval/review.ts'
import { listenerOf, parentDeciding } from '../inbox/notice.ts'
import { delegatedPaths } from '../lien/lien.ts'
import { scheduleNamedBy } from '../schedule/schedule.ts'
import { triggerNamedBy } from '../trigger/trigger.ts'
import { isWait } from './decide-wait.ts'
import { awaitsApproval } from './gate.ts'
import { type Intent, replayKeyOf } from './intent.ts'
import type { Pid } from './pid.ts'
import { hasEnded, type Owner, type ProcessRecord, type Scope } from './record.ts'
import type { ProcessRow } from './row.ts'
import { waitsOf } from './wait.ts'

/** The facts besides the row that a plan reads before it decides an intent. Null: not needed. */
export interface FactsNeeded {
  /** The event that is stored under this replay key. */
  readonly replayKey: string | null
  /** The inbox of the scope that gets a watch match: its overflow state limits the number of notices. */
  readonly overflowOf: Scope | null
  /** The notices of the scope that approves: an earlier holder may have asked for this approval already. */
  readonly approvalsOf: Scope | null
  /** The inbox whose messages a wait may take at once. */
  readonly messagesOf: Scope | null
  /** The session and the turn of the owner that the process moves to. */
  readonly newOwner: Owner | null
  /** The account of the process: a model call begins only if something is left. */
  readonly account: AccountId | null
}

export function factsNeeded(row: ProcessRow, intent: Intent): FactsNeeded {
  return {
    replayKey: replayKeyNeeded(row, intent),
    overflowOf: intent.type === 'match' ? listenerOf(row.record) : null,
    approvalsOf: approvalsNeeded(row, intent),
    messagesOf: messagesNeeded(row, intent),
    newOwner: intent.type === 'change_owner' ? intent.owner : null,
    account: beginsCall(intent) && row.record.limits.allowance !== undefined ? accountOf(intent.pid) : null,
  }
}

function beginsCall(intent: Intent): boolean {
  if (intent.type !== 'agent_act') return false
  const { act } = intent
  if (act.type === 'record_updates') return act.steps.some(({ type }) => type === 'next_call')
  return act.type === 'begin_call'
}

/** A live process has no end event, and no step beyond its last: the commonest writes then ask one question only. */
function replayKeyNeeded({ record }: ProcessRow, intent: Intent): string | null {
  if (intent.type === 'end' && !hasEnded(record)) return null
  if (intent.type === 'end_step' && intent.step.stepIndex > (record.journal?.last ?? 0)) return null
  return replayKeyOf(intent)
}

/** The first holder is also the first to wait: no earlier holder can have asked. */
function approvalsNeeded({ record, fence }: ProcessRow, intent: Intent): Scope | null {
  const isApproval = intent.type === 'enter_wait' && intent.wait.on === 'approval'
  return isApproval && fence >= 2 ? listenerOf(record) : null
}

function messagesNeeded({ record }: ProcessRow, intent: Intent): Scope | null {
  if (intent.type !== 'enter_wait' || intent.wait.on !== 'message' || hasEnded(record)) return null
  // Entered before: a message that it takes ends it.
  return waitsOf(record).some((wait) => isWait(wait, intent.wait)) ? null : `process:${record.pid}`
}

/** Further rows that the transaction of an end has to write. */
export interface EndDuties {
  /** The parent, if its record decides whether the end makes a notice. */
  readonly parent: Pid | null
  /** Processes that wait for this end: they get the outcome in the same transaction, so that none is forgotten. */
  readonly awaitedBy: ProcessRecord['awaitedBy']
  /** Its allowance goes back to its giver; or its use is counted in the sums above it; or it has no account. */
  readonly account: 'give_back' | 'count_use' | null
  /** The approval that it waited for: no person need answer it any more. */
  readonly withdraws: string | null
  /** It reviewed a request, which its end settles. */
  readonly isReview: boolean
  /** It asked whether an agent goes on beyond a soft limit. */
  readonly isSoftLimit: boolean
  /** The schedule that it may be an occurrence of: the next one is planned. */
  readonly schedule: string | null
  /** The host whose paths it held: they go back to its parent. */
  readonly pathsOn: string | null
  /** The trigger that it may be an occurrence of: the next delivery starts. */
  readonly trigger: string | null
}

const NO_DUTIES: EndDuties = {
  parent: null,
  awaitedBy: [],
  account: null,
  withdraws: null,
  isReview: false,
  isSoftLimit: false,
  schedule: null,
  pathsOn: null,
  trigger: null,
}

export function endDuties(was: ProcessRecord, now: ProcessRecord): EndDuties {
  if (!hasEnded(now) || hasEnded(was)) return NO_DUTIES
  const { awaitedBy, limits, kind } = now
  const parent = parentDeciding(now)
  const withdraws = awaitsApproval(was) ? (was.gate?.approval ?? null) : null
  const account = limits.allowance !== undefined ? 'give_back' : kind === 'command' ? 'count_use' : null
  const schedule = scheduleNamedBy(now.causedBy)
  const isSoftLimit = kind === 'tool' && softLimitAskedBy(now) !== null
  const isReview = reviewedBy(now) !== null
  const pathsOn = kind === 'agent' ? (delegatedPaths(now)?.host ?? null) : null
  const trigger = triggerNamedBy(now.causedBy)
  return { parent, awaitedBy, account, withdraws, isReview, isSoftLimit, schedule, pathsOn, trigger }
}
