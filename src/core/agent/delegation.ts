import { isObject } from '../../base/is-object.ts'
import type { ProcessRecord } from '../process/record.ts'
import { startSpecOf } from '../process/spec.ts'
import { type Refusal, refusal } from '../refusal.ts'

/** Levels of agents below the first one: children, and their children. */
const DEFAULT_DEPTH = 2
/** Live agents below one agent: enough for a fan-out, and few enough that a confused agent is noticed. */
const DEFAULT_CHILDREN = 20

/** The reason of the end of a child that no program has begun to drive. Its parent was refused, and gets no report. */
export const NOT_DRIVEN = 'not driven'

/** Facts about a registration of an agent below another one, from its transaction. */
export interface DelegationFacts {
  /** The agents above it, the nearest first: its parent, and the parents of that. At least one. */
  readonly above: readonly ProcessRecord[]
  /** Live agents below its parent. */
  readonly live: number
}

/** How many levels of agents a tree may have, and how many live children one agent. The first agent decides about the levels. */
export function refuseDelegation(facts: DelegationFacts | undefined): Refusal | undefined {
  if (facts === undefined) return undefined
  const { above, live } = facts
  const [parent] = above
  const first = above.at(-1)
  if (parent === undefined || first === undefined) return undefined
  const depth = limitOf(first, 'depth') ?? DEFAULT_DEPTH
  if (above.length > depth)
    return refusal(
      'depth_exceeded',
      `Agents may be ${depth} levels below ${first.pid}, and this one would be on level ${above.length}.`,
      `Do the work in ${parent.pid} itself, or raise delegation.depth of ${first.pid}.`,
      { limit: 'depth', left: 0, asked: 1 },
    )
  const most = childrenOf(parent)
  if (live < most) return undefined
  return refusal(
    'limit_exceeded',
    `limit:liveAgents of ${parent.pid}: ${live} of its agents live, and ${most} may.`,
    'Wait until one of them has ended, or end one.',
    { limit: 'liveAgents', left: 0, asked: 1 },
  )
}

export function childrenOf(parent: ProcessRecord): number {
  return limitOf(parent, 'children') ?? DEFAULT_CHILDREN
}

function limitOf({ spec }: ProcessRecord, name: 'depth' | 'children'): number | undefined {
  const { delegation } = spec
  const given = isObject(delegation) ? delegation[name] : undefined
  return typeof given === 'number' ? given : undefined
}

/** A child has the tools of its parent, or some of them. */
export function refuseTools(
  parent: ProcessRecord,
  asked: readonly string[] | undefined,
): Refusal | undefined {
  const { tools } = startSpecOf(parent)
  if (asked === undefined || !Array.isArray(tools)) return undefined
  const more = asked.filter((name) => !tools.includes(name))
  if (more.length === 0) return undefined
  return refusal(
    'denied',
    `${parent.pid} has no tool ${more.join(', ')}, so it cannot give it to an agent below it.`,
    'Name tools of the parent only, or leave them out.',
    { subject: `process:${parent.pid}` },
  )
}
