import type { AgentState } from './state.ts'

/** The first and the last of turns whose numbers follow each other. */
export type TurnRange = readonly [first: number, last: number]

/** Pieces of one branch. The record names each, so there is a bound: a session that is rewound after every second turn reaches it. */
export const MAX_TURN_RANGES = 256

/** The turns of the current branch of a session that was rewound. */
export interface BranchTurns {
  /** `seq` of the rewind. */
  readonly at: number
  /** Those that it kept. */
  readonly turns: readonly TurnRange[]
  /** The last turn before it, of any branch. Later turns are on this branch. */
  readonly through: number
}

/** Whether a turn is on the current branch. Of a turn that was rolled back it may say so. */
export function isOnBranch({ branch }: Pick<AgentState, 'branch'>, turn: number): boolean {
  if (branch === undefined || turn > branch.through) return true
  return branch.turns.some(([first, last]) => first <= turn && turn <= last)
}

/** The last turn of the current branch that has begun; 0 if it has none. */
export function lastOnBranch({ branch, turns }: Pick<AgentState, 'branch' | 'turns'>): number {
  if (branch === undefined || turns > branch.through) return turns
  return branch.turns.at(-1)?.[1] ?? 0
}

/** The turns of the branch, with those that have begun since the rewind. */
export function rangesOf({
  branch,
  turns,
}: Pick<AgentState, 'branch' | 'turns'>): readonly TurnRange[] | undefined {
  if (branch === undefined) return undefined
  return turns > branch.through ? [...branch.turns, [branch.through + 1, turns]] : branch.turns
}

/** The turns of a branch up to one of them. */
export function rangesUpTo(ranges: readonly TurnRange[], turn: number): readonly TurnRange[] {
  return ranges.flatMap(([first, last]): readonly TurnRange[] =>
    first <= turn ? [[first, Math.min(last, turn)]] : [],
  )
}

/** Numbers in ascending order, as ranges. */
export function asRanges(numbers: readonly number[]): readonly TurnRange[] {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges
}
