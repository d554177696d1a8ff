import { GOAL_CHECKS, type GoalLoop } from './state.ts'

export const NEXT_TURNS = ['holds', 'go_on', 'budget_over', 'stalled', 'unchecked'] as const
/**
 * | `holds`       | the goal is reached, or nothing was checked                        |
 * | `go_on`       | another turn                                                       |
 * | `budget_over` | as many turns as the request allowed have ended                    |
 * | `stalled`     | the last checks found the same: another turn would change nothing  |
 * | `unchecked`   | the check could not be made: whether the goal is reached is unknown |
 */
export type NextTurn = (typeof NEXT_TURNS)[number]

export interface GoalCheck {
  readonly holds: boolean
  /** The findings of the check, shortened. */
  readonly found: string
  /** The check could not be made: it says nothing about the goal, and `found` says why. */
  readonly failed?: true
}

/** Whether a goal loop goes on. `goal` counts the turn that has just ended. */
export function decideNextTurn(goal: GoalLoop, check: GoalCheck | undefined): NextTurn {
  if (check === undefined || check.holds) return 'holds'
  if (check.failed === true) return 'unchecked'
  if (goal.done >= goal.maxTurns) return 'budget_over'
  const [first, ...rest] = goal.checks
  const isSame = goal.checks.length === GOAL_CHECKS && rest.every((found) => found === first)
  return isSame ? 'stalled' : 'go_on'
}

/** The loop after one more turn. */
export function countTurn(goal: GoalLoop, check: GoalCheck | undefined): GoalLoop {
  const checks = [...goal.checks, check?.found ?? ''].slice(-GOAL_CHECKS)
  return { ...goal, done: goal.done + 1, checks }
}
