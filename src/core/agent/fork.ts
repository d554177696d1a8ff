import type { ViewRequest } from '../object/view.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { isOnBranch, rangesOf, rangesUpTo } from './branch.ts'
import {
  type EarlierLog,
  MAX_EARLIER_LOGS,
  placedLogs,
  type SessionContinued,
  seqIn,
} from './earlier-logs.ts'
import { isOutsideModel } from './outside.ts'
import { alreadyRunning, invalidRequest, notAnAgent } from './refusals.ts'
import type { AgentState, OpenTurn } from './state.ts'

/** What a fork may do. */
export const FORK_MODES = [
  /** It reads, and changes nothing. */
  'restricted',
  /** As restricted, and it ends with the result of its first turn. */
  'worker',
  /** What the agent that it branches from may do. */
  'copy',
  /** It writes objects that are gone at its end unless they are merged, and files in a worktree of its own only. */
  'speculative',
] as const
export type ForkMode = (typeof FORK_MODES)[number]

/** The agent and the turn that a session branches from. */
export interface ForkedFrom {
  readonly pid: string
  /** The last turn that both sessions have. */
  readonly turn: number
  readonly mode: ForkMode
}

/** Where a session branches: behind the entry at this place of the session. `turn`: the last turn before it. */
export interface BranchPoint {
  readonly place: number
  readonly turn: number
}

/** Whether forks of this mode may only read, besides objects of their own. */
export function isReadOnly(mode: ForkMode): boolean {
  return mode === 'restricted' || mode === 'worker'
}

const VIEW_OF = {
  restricted: 'read_only',
  worker: 'read_only',
  copy: 'copy_on_write',
  speculative: 'ephemeral',
} as const satisfies { readonly [mode in ForkMode]: ViewRequest['mode'] }

/** A fork sees the objects that the other agent had at the turn that it names; without one those of the registration. */
export function viewAt(
  source: Pid,
  { earlier }: SessionContinued,
  { at, mode, roots }: { readonly at?: number; readonly mode: ForkMode; readonly roots?: readonly string[] },
): ViewRequest {
  const last = at === undefined ? undefined : earlier.at(-1)
  return {
    mode: VIEW_OF[mode],
    ...(last === undefined ? { of: source } : { of: last.pid, at: last.through }),
    ...(roots === undefined ? {} : { roots }),
  }
}

/** Why no session can branch from that of this agent. */
export function refuseFork(source: ProcessRecord): Refusal | undefined {
  const { pid, agent, spec } = source
  if (agent === null) return notAnAgent(source)
  if (isOutsideModel(String(spec['model'])))
    return invalidRequest(
      source,
      'its session is in a program of its own',
      'Start another agent, with what it has to know as its goal.',
    )
  if ((agent.earlier ?? []).length < MAX_EARLIER_LOGS) return undefined
  return refusal(
    'invalid_request',
    `${pid} cannot be forked: its session has ${MAX_EARLIER_LOGS} earlier logs.`,
    'Start another agent, with what it has to know as its goal.',
  )
}

/** Why a session cannot branch behind this turn. `reason`: how the turn ended; null if no end of it is known. */
export function refuseBranchAt(
  source: ProcessRecord,
  at: number,
  reason: string | null,
): Refusal | undefined {
  const { pid, agent } = source
  if (reason !== null && agent !== null && !isOnBranch(agent, at))
    return invalidRequest(
      source,
      `turn ${at} is not on the current branch of its session`,
      'Name a turn of that branch, or none; or select the other branch first, with reeve agent rewind --branch.',
    )
  if (reason === 'rolled_back')
    return invalidRequest(
      source,
      `turn ${at} was rolled back, so it is in no session`,
      'Name another turn, or none.',
    )
  if (reason !== null) return undefined
  if (agent?.turn?.number === at)
    return alreadyRunning(source, 'Name an earlier turn, or none: then it branches where the turn is now.')
  const last = agent?.turns ?? 0
  return refusal(
    'not_found',
    `${pid} has no turn ${at}${last === 0 ? '' : `; its last is ${last}`}.`,
    'Name a turn of its session: reeve agent cost lists them.',
  )
}

/**
 * The model call of the open turn that has no whole result yet: a session branches before it, because no provider accepts a tool call
 * without its result. Null: nothing is open, and the session branches at its head.
 */
export function unfinishedCall(
  turn: OpenTurn | null,
): { readonly turn: number; readonly call: number } | null {
  if (turn === null) return null
  const call = turn.call?.number ?? turn.tools[0]?.call
  return call === undefined ? null : { turn: turn.number, call }
}

/** A part of the session is not kept any more. */
export function prunedLog(pid: string): Refusal {
  return refusal(
    'pruned_pid',
    `The log of ${pid}, a part of the session, was pruned.`,
    'Start another agent, with what it has to know as its goal.',
  )
}

/** A session without an entry has nothing to branch from. */
export function refuseEmpty(source: ProcessRecord): Refusal {
  return invalidRequest(
    source,
    'its session has no entry yet',
    'Start another agent: reeve agent spawn, or reeve agent.',
  )
}

/**
 * What the log of a fork begins with; null if nothing is before the branch point. `segment` is that of the branch point, with its place
 * in the session of the source.
 */
export function branchOf(
  { pid, agent }: { readonly pid: string; readonly agent: AgentState },
  { place, turn }: BranchPoint,
  segment: SessionContinued['segment'],
  mode: ForkMode,
): SessionContinued | null {
  const earlier = logsThrough(pid, agent.earlier ?? [], place)
  if (earlier === null) return null
  const { number, from } = segment
  const branch = rangesOf(agent)
  return {
    earlier,
    turns: turn,
    segment: { number, from: from === 0 ? 0 : placeBehind(from, place) },
    ...(branch === undefined ? {} : { branch: rangesUpTo(branch, turn) }),
    fork: { pid, turn, mode },
  }
}

/** The logs of a session up to a place. Place 0 is the end of the earlier ones. */
function logsThrough(
  pid: string,
  earlier: readonly EarlierLog[],
  place: number,
): readonly EarlierLog[] | null {
  if (place > 0) return [...earlier, { pid, through: place }]
  const last = Math.min(place, -1)
  const placed = placedLogs(earlier)
  const index = placed.findIndex(({ through, shift }) => last <= through - shift)
  const log = placed[index]
  if (log === undefined || last + log.shift < 1) return null
  return [...earlier.slice(0, index), { pid: log.pid, through: last + log.shift }]
}

/** A place of the session as seen from behind another one: the last place that both have is -1. */
function placeBehind(place: number, last: number): number {
  return last > 0 ? seqIn(place, last + 1) : place - Math.min(last, -1) - 1
}
