import { ReeveError } from '../../src/core/errors.ts'
import { isRefusal } from '../../src/core/refusal.ts'
import type { Change, Plan, Question, Verdict } from '../../src/store/contract.ts'
import type { Stage } from './stage.ts'

/** A plan that a kernel gave to the store, and its progress. */
export interface WatchedPlan {
  /** The changes that its last run decided. */
  changes: readonly Change[]
  committed: boolean
  answer: unknown
}

/** The plans of the open transaction. */
export interface PlanList {
  readonly plans: WatchedPlan[]
}

export function watchPlan<Answer>(
  plan: Plan<Answer>,
  list: PlanList,
): { plan: Plan<Answer>; watched: WatchedPlan } {
  const watched: WatchedPlan = { changes: [], committed: false, answer: undefined }
  return {
    watched,
    plan: function* (): Generator<readonly Question[], Verdict<Answer>, readonly unknown[]> {
      const verdict = yield* plan()
      watched.changes = verdict.changes
      watched.answer = verdict.answer
      list.plans.push(watched)
      return verdict
    },
  }
}

/** Checks the answer to a caller: an acknowledged plan is on disk, a refused or failed one is not. */
export function checkAcknowledged(
  stage: Stage,
  who: string,
  { changes, committed, answer }: WatchedPlan,
): void {
  if (changes.length > 0 && !committed)
    stage.violated(
      'acknowledged is durable',
      `${who} was told of ${changes.length} changes that were not committed`,
    )
  const acts = changes.filter((change) => !isAudit(change)).length
  if (acts > 0 && isRefused(answer))
    stage.violated('rejected writes change nothing', `${who} was refused, and ${acts} changes were made`)
}

/** A refusal may be written to the audit, and changes nothing else. */
function isAudit({ type }: Change): boolean {
  return type === 'audit' || type === 'audit_window'
}

export function checkFailed(
  stage: Stage,
  who: string,
  { changes, committed }: WatchedPlan,
  error: unknown,
): void {
  if (!committed || changes.length === 0) return
  if (error instanceof ReeveError && error.code === 'outcome_unknown') return
  const code = error instanceof ReeveError ? error.code : String(error)
  stage.violated(
    'rejected writes change nothing',
    `${who} was told ${code}, and ${changes.length} changes were made`,
  )
}

/** Whether the answer is a refusal, or a list of refusals only. */
function isRefused(answer: unknown): boolean {
  if (isRefusal(answer)) return true
  if (!Array.isArray(answer) || answer.length === 0) return false
  return answer.every(
    (one: unknown) => typeof one === 'object' && one !== null && 'type' in one && one.type === 'refused',
  )
}
