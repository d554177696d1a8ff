import { isObject } from '../../base/is-object.ts'
import type { Pid } from '../process/pid.ts'

/** A git worktree of an agent: what Reeve notes before it makes one. */
export interface Worktree {
  /** The agent that it was made for. */
  readonly pid: Pid
  /** Agents that went on with its session, and work there, too: the newest last. */
  readonly heirs?: readonly Pid[]
  /** The name of the agent, or its pid. */
  readonly name: string
  /** The agent that it works for. */
  readonly parent: Pid
  readonly branch: string
  /** The commit that it began with. */
  readonly base: string
  /** Its root. */
  readonly folder: string
  /** The checkout that it is merged into. */
  readonly into: string
  readonly madeAt: number
}

/** What git says about a worktree. */
export interface WorktreeFacts {
  /** False: the folder or the checkout was moved or is damaged, so the rest is not known. */
  readonly isReadable: boolean
  readonly hasFolder: boolean
  readonly hasBranch: boolean
  /** Files with changes that are not committed, untracked files included. */
  readonly uncommitted: number
  /** Commits of the branch, and of what is checked out there, that the checkout does not have. */
  readonly unmerged: number
}

/** A worktree, and what becomes of it. */
export interface ListedWorktree extends Omit<Worktree, 'heirs'>, WorktreeFacts {
  /** `in_use`: its agent lives. `kept`: its agent has ended, and something would be lost without it. */
  readonly state: 'in_use' | 'kept'
  /** Why it is kept, or would be. */
  readonly because: string | null
}

export interface NewWorktree {
  /** Of the agent that will work there. */
  readonly pid: Pid
  readonly name: string
  readonly parent: Pid
  /** A folder of a checkout: the worktree begins with its last commit. */
  readonly from: string
}

export interface MergedWorktree {
  readonly worktree: Worktree
  /** Null: the checkout had all of it already. */
  readonly commit: string | null
  readonly paths: readonly string[]
  readonly removed: boolean
}

/** Why a worktree is not removed when its agent has ended; null if nothing would be lost. */
export function keptBecause(facts: WorktreeFacts): string | null {
  const { isReadable, hasFolder, uncommitted, unmerged } = facts
  if (!isReadable) return 'git cannot read it: it or its repository was moved or is damaged'
  const reasons = [
    ...(hasFolder && uncommitted > 0 ? [`${counted(uncommitted, 'file')} not committed`] : []),
    ...(unmerged > 0 ? [`${counted(unmerged, 'commit')} not merged`] : []),
  ]
  return reasons.length === 0 ? null : reasons.join(', ')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const MAX_BRANCH_CHARS = 100

/** The branch of an agent, in a form that git accepts. */
export function branchOf(name: string): string {
  const parts = name
    .split('/')
    .map((part) =>
      part
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/\.{2,}/g, '.')
        .replace(/^[.-]+|[.-]+$/g, '')
        .replace(/\.lock$/, ''),
    )
    .filter((part) => part !== '')
  return `reeve/${parts.join('-').slice(0, MAX_BRANCH_CHARS) || 'agent'}`
}

/** Null for a text that is no such note, as that of a later version. */
export function worktreeFrom(text: string): Worktree | null {
  const found = parsed(text)
  if (!isObject(found)) return null
  const { pid, heirs, name, parent, branch, base, folder, into, madeAt } = found
  const texts = [pid, name, parent, branch, base, folder, into]
  if (!texts.every((one) => typeof one === 'string') || typeof madeAt !== 'number') return null
  return {
    pid: String(pid),
    name: String(name),
    parent: String(parent),
    branch: String(branch),
    base: String(base),
    folder: String(folder),
    into: String(into),
    madeAt,
    ...(Array.isArray(heirs) ? { heirs: heirs.map(String) } : {}),
  }
}

/** The agents that work there, or did, the newest last. */
export function agentsOf({ pid, heirs = [] }: Pick<Worktree, 'pid' | 'heirs'>): readonly [Pid, ...Pid[]] {
  return [pid, ...heirs]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
