import type { Account } from '../core/allowance/account.ts'
import type { Visibility } from '../core/authority/visibility.ts'
import type { Change, DoneHow } from '../core/change.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { Group } from '../core/group/group.ts'
import type { Inbox } from '../core/inbox/inbox.ts'
import type { Notice } from '../core/inbox/notice.ts'
import type { HolderRow, Proof, Served } from '../core/lease/holder.ts'
import type { Placement } from '../core/placement/placement.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import type { PruneFacts } from '../core/process/prune.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow, Tombstone } from '../core/process/row.ts'
import type { Grant } from '../core/session/grant.ts'
import type { Session, Turn } from '../core/session/session.ts'
import type { UnreadableRow } from './unreadable.ts'

/**
 * Everything Reeve asks of a database: answers to questions, writes that are decided on such answers, and word of
 * what was committed. A store keeps facts and compares what they were decided on; it decides nothing else.
 */
export interface Store {
  /** What is on disk when `write` resolves. */
  readonly durability: Durability

  /** Answers from what is committed. */
  ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>>

  /**
   * Runs a plan and commits its changes: all of them or none, decided on facts that still hold at the commit.
   * Resolves after the commit, with the plan's answer. What arrives in one turn of the loop is committed together;
   * each plan sees what those before it changed. A plan may be run more than once, so it must be pure.
   */
  write<Answer>(plan: Plan<Answer>): Promise<Answer>

  /** Tells of every commit with events, here or in another process. A foreign one comes as a nudge: read the feed. */
  onCommit(listener: (commit: Commit) => void): () => void

  /**
   * Gives some free space back to the file system, where the store does not do so by itself. `more`: call it again, after
   * other work of the loop.
   */
  releaseSpace?(): Promise<'more' | 'done'>

  /** Proof of life on one machine, where the store has such a thing. */
  readonly locks?: HolderLocks

  close(): Promise<void>
}

/** Locks that end with the operating system process that has them, however it dies. */
export interface HolderLocks {
  /** Takes the lock of this holder, for as long as it lives or until the answer is called. */
  hold(holder: string): () => void
  prove(holder: string): Proof
  /** Clears away what a dead holder left, once nobody needs the proof any more. */
  clear(holder: string): void
}

export interface Durability {
  readonly store: string
  /** Whether an acknowledged write survives a power cut. */
  readonly survivesPowerCut: boolean
  readonly settings: Readonly<Record<string, string>>
}

/** Asks what it needs to know, then says what shall change. Pure: it is run again when a fact has changed meanwhile. */
export type Plan<Answer> = () => Generator<readonly Question[], Verdict<Answer>, readonly unknown[]>

export interface Verdict<Answer> {
  readonly answer: Answer
  readonly changes: readonly Change[]
}

export interface Commit {
  /** The last position before this commit, and the last one of it. */
  readonly after: number
  readonly position: number
  /** In order; null when another process committed, and the feed has to be read. */
  readonly events: readonly StoredEvent[] | null
}

/** One question and its answer per line. Pages go on after a `place`; `limit` bounds every list. */
export interface Questions {
  process: [{ readonly pid: Pid }, ProcessRow | null]
  tombstone: [{ readonly pid: Pid }, Tombstone | null]
  session: [{ readonly id: string }, Session | null]
  turn: [{ readonly session: string; readonly id: string }, Turn | null]
  group: [{ readonly id: string }, Group | null]
  environment: [{ readonly ref: string }, Environment | null]
  /** The refs of those that it uses, in the order in which it began to. */
  environments: [{ readonly usedBy: Actor; readonly limit: number }, readonly string[]]
  holder: [{ readonly id: string }, HolderRow | null]
  /** Whether a holder has a row. Unlike that, it does not change with each renewal. */
  announced: [{ readonly id: string }, boolean]
  event: [{ readonly pid: Pid; readonly replayKey: string }, StoredEvent | null]
  eventAt: [{ readonly pid: Pid; readonly seq: number }, StoredEvent | null]
  /** Whole pids that begin with `prefix`; all of them, or those that are visible. */
  pids: [{ readonly prefix: string; readonly visibleTo?: Visibility; readonly limit: number }, readonly Pid[]]
  /**
   * In order of registration, or the newest first. Ended ones too, unless `filter` says otherwise. `visibleTo` selects
   * before the page is cut, as `isVisible` says: a page with fewer than `limit` items is the last one.
   */
  processes: [
    {
      readonly filter: Filter
      readonly visibleTo?: Visibility
      readonly newestFirst?: boolean
      readonly after: number | null
      readonly limit: number
    },
    Page<ProcessRow>,
  ]
  /** Ready, not held, due, of a kind (and name) that is served, and placed `here` or nowhere; the first registered first. */
  claimable: [
    {
      readonly serves: readonly Served[]
      readonly here: readonly Placement[]
      readonly at: number
      readonly limit: number
    },
    readonly Pid[],
  ]
  /** When the next one of these becomes due, if later than `at`. */
  nextDue: [
    { readonly serves: readonly Served[]; readonly here: readonly Placement[]; readonly at: number },
    number | null,
  ]
  held: [{ readonly holder: string; readonly after: number | null; readonly limit: number }, Page<ProcessRow>]
  holders: [object, readonly HolderRow[]]
  /** Holders of leases that have no row (any more). */
  unannounced: [object, readonly string[]]
  /** Processes whose stop or end must still be carried to their children. */
  carrying: [{ readonly after: number | null; readonly limit: number }, Page<ProcessRow>]
  /** Sessions and turns whose end must still be carried to their processes. */
  carryingScopes: [
    { readonly limit: number },
    readonly ({ readonly session: Session } | { readonly turn: Turn })[],
  ]
  /** Live processes that wake this session. */
  waking: [{ readonly session: string; readonly limit: number }, readonly Pid[]]
  grants: [{ readonly session?: string; readonly pid?: Pid }, readonly Grant[]]
  sessions: [{ readonly after: string | null; readonly limit: number }, readonly Session[]]
  events: [
    {
      readonly pid: Pid
      readonly after: number
      readonly limit: number
      /** The page ends with the event whose payload makes it this long, or longer. */
      readonly bytes?: number
    },
    readonly StoredEvent[],
  ]
  /** The last `limit` events, in order. */
  tail: [{ readonly pid: Pid; readonly limit: number }, readonly StoredEvent[]]
  changes: [{ readonly after: number; readonly limit: number }, Changes]
  /** In order: the first `limit` behind `after`, or the `newest`; all, or those that are not done (`open`); or of one process; or at some places. */
  notices: [
    {
      readonly scope: string
      readonly after: number
      readonly limit: number
      readonly open?: boolean
      readonly newest?: boolean
      readonly pid?: Pid
      readonly places?: readonly number[]
      /** Only those told at this time or later. */
      readonly toldSince?: number
      /** Without those that have this mark in `observed`. */
      readonly unobserved?: string
    },
    readonly StoredNotice[],
  ]
  inbox: [{ readonly scope: string }, Inbox | null]
  /** Inboxes that hold matches back, and must release them some time. */
  overflowing: [{ readonly limit: number }, readonly Inbox[]]
  account: [{ readonly id: string }, Account | null]
  /** Of a tree, or of a session: those whose use is part of no other account yet, in order of their ids. */
  accounts: [
    {
      readonly root?: Pid
      readonly session?: string
      readonly after: string | null
      readonly limit: number
    },
    readonly Account[],
  ]
  activity: [{ readonly session: string | null; readonly since: number | null }, Activity]
  /** The last place in the order of ends that lies before a time, or beyond the newest `keep`; null if there is none. */
  pruneThrough: [{ readonly endedBefore: number | null; readonly keep: number | null }, EndPlace | null]
  /** What decides whether processes may be pruned: of some pids, or of those in a range, the longest ended first. */
  prunable: [
    (
      | { readonly pids: readonly Pid[] }
      | { readonly after: EndPlace | null; readonly through: EndPlace; readonly limit: number }
    ),
    readonly PruneCandidate[],
  ]
  /** Of processes that were pruned before a time. */
  tombstones: [{ readonly prunedBefore: number; readonly limit: number }, readonly Pid[]]
  /** How much there is of what pruning removes. */
  storage: [object, Storage]
  /** Rows that this store has met and could not read; lists, claims and pages leave them out. */
  unreadable: [object, readonly UnreadableRow[]]
  /** A random text of this store's own, from which one-shot keys are made. */
  secret: [object, string]
}

type QuestionName = keyof Questions
export type Question = { [Name in QuestionName]: { readonly ask: Name } & Questions[Name][0] }[QuestionName]
export type AnswerTo<Q extends Question> = Questions[Q['ask']][1]

/** Where an ended process lies in the order of ends; `place` orders those that ended at the same time. */
export interface EndPlace {
  readonly endedAt: number
  readonly place: number
}

export interface PruneCandidate extends PruneFacts {
  readonly place: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page goes on; null when there is none. */
  readonly next: number | null
}

export interface Changes {
  readonly events: readonly StoredEvent[]
  /** The last position that is committed. */
  readonly position: number
  /** Events up to here may have been pruned: a follower behind it has missed some. */
  readonly prunedThrough: number
}

export interface StoredNotice extends Notice {
  readonly place: number
  readonly done: DoneHow | null
  /** The turns in which it was looked at already. */
  readonly observed: readonly string[]
}

export interface Activity {
  readonly live: number
  /** When the newest of them was registered. */
  readonly newestAt: number | null
}

export interface Storage {
  /** Processes that have ended. */
  readonly ended: number
  readonly oldestEndedAt: number | null
  /** What the store takes on disk; null where it does not know. */
  readonly bytes: number | null
}

/** Asks one question inside a plan. */
export function* know<Q extends Question>(
  question: Q,
): Generator<readonly Question[], AnswerTo<Q>, readonly unknown[]> {
  const [answer] = yield [question]
  return answer as AnswerTo<Q>
}

/** A plan that changes nothing. */
export function unchanged<Answer>(answer: Answer): Verdict<Answer> {
  return { answer, changes: [] }
}

export type { Change }
