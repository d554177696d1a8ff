import type { OutputOf } from '../../verbs/reeve.ts'

type LastTurn = NonNullable<OutputOf<'inspectAgent'>['lastTurn']>

/** Why a goal loop ended without its goal; undefined if it has none, goes on, or has reached it. */
export function missedGoal({ goal, check }: Pick<LastTurn, 'goal' | 'check'>): string | undefined {
  if (goal === 'unchecked')
    return `Whether the goal is reached is unknown, because the check could not be made: ${check?.found ?? ''}`
  if (goal !== 'budget_over' && goal !== 'stalled') return undefined
  const found = check?.found.trim().split('\n').at(-1) ?? ''
  const printed = found === '' ? 'it printed nothing' : `it printed last: ${found}`
  const why = goal === 'stalled' ? 'the last checks found the same' : 'no turn is left'
  return `The check of the goal still fails, and ${why}; ${printed}`
}

/** How a turn ended, in a line. */
export function turnText(turn: LastTurn): string {
  const { reason, message, result } = turn
  const said = typeof result === 'string' ? result : result === null ? undefined : JSON.stringify(result)
  const more = message ?? said
  return `${reason.replaceAll('_', ' ')}${more === undefined ? '' : `: ${more}`}`
}
