import { isOfEarlierSegment } from '../agent/segment-calls.ts'
import type { Pid } from './pid.ts'
import { hasEnded, type Kind, type ProcessRecord } from './record.ts'
import type { Carry } from './row.ts'
import { waitsOf } from './wait.ts'

/** How long a tombstone refuses its pid. An idempotency key that is repeated later starts a new process. */
export const TOMBSTONE_MS = 90 * 24 * 60 * 60_000

/** How long an unread notice keeps the process that it is about. */
export const UNREAD_MS = 90 * 24 * 60 * 60_000

/** The facts that decide whether a process may be pruned, read in the transaction that prunes it. */
export interface PruneFacts {
  readonly pid: Pid
  readonly parent: Pid | null
  readonly root: Pid
  readonly fence: number
  /** Null while it lives. */
  readonly endedAt: number | null
  /** Its last event was committed before this transaction began. */
  readonly isCommitted: boolean
  readonly carry: Carry | null
  /** It has children, and a process of its tree lives. */
  readonly hasLiveTree: boolean
  /**
   * The kind of its parent, if that lives. What an ended tool call of a live agent started counts as the agent's: the session log refers
   * to the output of its commands.
   */
  readonly liveParent: Kind | null
  /** The live agent whose tool call it is, or whose tool call started it. */
  readonly caller: Pid | null
  /** The tool call that it belongs to (`owner.toolCall`), if it has a caller. */
  readonly toolCall: string | null
  /** The tool that it is; null if it is none. */
  readonly target: string | null
  /** The record of a live process names it (`referencesOf`), or a live process has a live handle to one of its objects. */
  readonly isReferenced: boolean
  readonly hasAccount: boolean
  /**
   * When the newest unread notice about it was written; null if there is none. Unread: not done, not acknowledged by any
   * consumer, and in the inbox of an open session or a live process. A person's inbox keeps nothing: it may never be read.
   */
  readonly unreadAt: number | null
}

/** The request: pruning beyond limits, of age or number, or of some by pid. */
export interface Pruning {
  readonly by: 'limits' | 'pid'
  readonly at: number
  /** The records of live agents that are `caller` of a candidate. */
  readonly callers: ReadonlyMap<Pid, ProcessRecord>
}

export const KEEP_REASONS = [
  'live',
  'just_ended',
  'carrying',
  'live_tree',
  'live_parent',
  'referenced',
  'unread',
] as const
/** Why a process is not pruned. */
export type KeepReason = (typeof KEEP_REASONS)[number]

/**
 * Null: it may be pruned. A process that a live process refers to is kept:
 *
 * | reason        | kept                                                                               |
 * | live          | until it ends                                                                      |
 * | just_ended    | until other kernels can read its end: never pruned by the commit that ended it      |
 * | carrying      | until its stop or end has been carried to its children                             |
 * | live_tree     | while its tree lives: a stop passes through it                                     |
 * | live_parent   | while its parent runs code that finds its children again when it is run again; tool calls of an agent, and what they started, while the agent lives and its live segment has the call |
 * | referenced    | while a live process waits for it, is its restart or its fork, shows its output in its live segment, sees its objects, or has a live handle to one |
 * | unread        | from limits alone: while a notice about it is unread, for up to 90 days            |
 */
export function keepReason(facts: PruneFacts, { by, at, callers }: Pruning): KeepReason | null {
  if (facts.endedAt === null) return 'live'
  if (!facts.isCommitted) return 'just_ended'
  if (facts.carry !== null) return 'carrying'
  if (facts.hasLiveTree) return 'live_tree'
  const isFound = facts.liveParent !== null && FINDS_CHILDREN_AGAIN.has(facts.liveParent)
  const caller = facts.caller === null ? undefined : callers.get(facts.caller)
  if (isFound && (caller === undefined || !isOfEarlierSegment(caller, facts))) return 'live_parent'
  if (facts.isReferenced) return 'referenced'
  const isUnread = facts.unreadAt !== null && at - facts.unreadAt < UNREAD_MS
  return by === 'limits' && isUnread ? 'unread' : null
}

const FINDS_CHILDREN_AGAIN: ReadonlySet<Kind> = new Set(['agent', 'workflow', 'tool'])

const NONE: readonly never[] = []

/** The processes that a live record names, apart from its parent and its root. */
export function referencesOf(record: ProcessRecord): readonly Pid[] {
  const { outputs = NONE, earlier = NONE } = record.agent ?? {}
  const bases = record.view?.bases ?? NONE
  const isAlone = record.wait === null && record.moreWaits.length === 0 && record.restartOf === null
  const names = outputs.length + earlier.length + bases.length
  if ((isAlone && names === 0) || hasEnded(record)) return NONE
  const awaited = waitsOf(record).flatMap(({ on, name }) => (on === 'child' ? [name] : []))
  const shown = [...outputs, ...earlier, ...bases].map(({ pid }) => pid)
  return [...new Set([...(record.restartOf === null ? [] : [record.restartOf]), ...awaited, ...shown])]
}

export interface ReferenceChanges {
  readonly added: readonly Pid[]
  readonly removed: readonly Pid[]
}

/** How a record's references change; null when they do not, as with most events. */
export function referenceChanges(was: ProcessRecord | null, record: ProcessRecord): ReferenceChanges | null {
  const before = was === null ? NONE : referencesOf(was)
  const after = referencesOf(record)
  if (before === after) return null
  const added = after.filter((pid) => !before.includes(pid))
  const removed = before.filter((pid) => !after.includes(pid))
  return added.length === 0 && removed.length === 0 ? null : { added, removed }
}
