import type { Account } from '../core/allowance/account.ts'
import type { Approval, ApprovalState } from '../core/approval/approval.ts'
import type { AuditLink, AuditTail, ChainedEntry } from '../core/audit/chain.ts'
import type { AuditFilter } from '../core/audit/filter.ts'
import type { AuditWindow } from '../core/audit/window.ts'
import type { Visibility } from '../core/authority/visibility.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import type { RuleUse } from '../core/capability/rule-use.ts'
import type { DoneHow } from '../core/change.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { Group } from '../core/group/group.ts'
import type { Inbox } from '../core/inbox/inbox.ts'
import type { Notice, NoticeKind } from '../core/inbox/notice.ts'
import type { HolderRow, Served } from '../core/lease/holder.ts'
import type { Liens } from '../core/lien/lien.ts'
import type { Revocation } from '../core/object/object.ts'
import type { Placement } from '../core/placement/placement.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import type { PruneFacts } from '../core/process/prune.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow, Tombstone } from '../core/process/row.ts'
import type { Schedule } from '../core/schedule/schedule.ts'
import type { Grant } from '../core/session/grant.ts'
import type { Session, Turn } from '../core/session/session.ts'
import type { Delivery } from '../core/trigger/delivery.ts'
import type { Trigger } from '../core/trigger/trigger.ts'
import type { UnreadableRow } from './unreadable.ts'

/** Each question with its answer. `after` continues a page; `limit` bounds every list. */
export interface Questions {
  process: [{ readonly pid: Pid }, ProcessRow | null]
  tombstone: [{ readonly pid: Pid }, Tombstone | null]
  session: [{ readonly id: string }, Session | null]
  turn: [{ readonly session: string; readonly id: string }, Turn | null]
  group: [{ readonly id: string }, Group | null]
  environment: [{ readonly ref: string }, Environment | null]
  /** The refs of the environments that an actor uses, in the order in which it began to. */
  environments: [{ readonly usedBy: Actor; readonly limit: number }, readonly string[]]
  holder: [{ readonly id: string }, HolderRow | null]
  /** Whether a holder has a row. Unlike `holder`, the answer does not change with each renewal. */
  announced: [{ readonly id: string }, boolean]
  event: [{ readonly pid: Pid; readonly replayKey: string }, StoredEvent | null]
  eventAt: [{ readonly pid: Pid; readonly seq: number }, StoredEvent | null]
  /** Whole pids that begin with `prefix`: all of them, or the visible ones. */
  pids: [{ readonly prefix: string; readonly visibleTo?: Visibility; readonly limit: number }, readonly Pid[]]
  /**
   * In order of registration, or the newest first. Ended processes too, unless `filter` excludes them. `visibleTo` applies
   * `isVisible` before the page is cut: a page with fewer than `limit` items is the last one.
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
  /** Processes that are ready, due and not held, of a served kind and target, and placed `here` or nowhere; oldest first. */
  claimable: [
    {
      readonly serves: readonly Served[]
      readonly here: readonly Placement[]
      readonly at: number
      readonly limit: number
    },
    readonly Pid[],
  ]
  /** When the next of these processes becomes due, if later than `at`. */
  nextDue: [
    { readonly serves: readonly Served[]; readonly here: readonly Placement[]; readonly at: number },
    number | null,
  ]
  held: [{ readonly holder: string; readonly after: number | null; readonly limit: number }, Page<ProcessRow>]
  holders: [object, readonly HolderRow[]]
  /** Holders of leases that have no row, or none any more. */
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
  /** In order of their ids: all of them, or the children of one. */
  sessions: [
    { readonly parent?: string; readonly after: string | null; readonly limit: number },
    readonly Session[],
  ]
  events: [
    {
      readonly pid: Pid
      readonly after: number
      readonly limit: number
      /** The page ends with the event whose payload brings it to this many bytes or more. */
      readonly bytes?: number
    },
    readonly StoredEvent[],
  ]
  /** The last `limit` events, or the last ones before a `seq`, in order. */
  tail: [
    {
      readonly pid: Pid
      readonly before?: number
      readonly limit: number
      /** The page begins with the event whose payload brings it to this many bytes or more. */
      readonly bytes?: number
    },
    readonly StoredEvent[],
  ]
  changes: [{ readonly after: number; readonly limit: number }, Changes]
  /** In order of position: the first `limit` after `after`, or the `newest`. `open` excludes notices that are done. */
  notices: [
    {
      readonly scope: string
      readonly after: number
      readonly limit: number
      readonly open?: boolean
      readonly newest?: boolean
      readonly pid?: Pid
      readonly positions?: readonly number[]
      readonly kind?: NoticeKind
      /** Only notices of this time or later. */
      readonly toldSince?: number
      /** Excludes notices that have this mark in `observed`. */
      readonly unobserved?: string
    },
    readonly StoredNotice[],
  ]
  /** How many open notices of a kind the scope has after a position, at most `limit`. */
  openNotices: [
    { readonly scope: string; readonly kind: NoticeKind; readonly after: number; readonly limit: number },
    number,
  ]
  inbox: [{ readonly scope: string }, Inbox | null]
  /** Inboxes that hold matches back, which have to be released later. */
  overflowing: [{ readonly limit: number }, readonly Inbox[]]
  account: [{ readonly id: string }, Account | null]
  /** Accounts of a tree or of a session whose use is not yet part of another account, in order of their ids. */
  accounts: [
    {
      readonly root?: Pid
      readonly session?: string
      readonly after: string | null
      readonly limit: number
    },
    readonly Account[],
  ]
  schedule: [{ readonly id: string }, Schedule | null]
  /** The paths that agents of a host hold. */
  liens: [{ readonly host: string }, Liens | null]
  /** In order of their ids. `open`: only those whose next occurrence is not registered yet. */
  schedules: [
    { readonly open?: true; readonly after: string | null; readonly limit: number },
    readonly Schedule[],
  ]
  /** The newest event up to `through` that gives a name of a namespace a meaning (`objectEntry`). */
  objectEvent: [{ readonly pid: Pid; readonly name: string; readonly through: number }, StoredEvent | null]
  /** The newest such event of each name that begins with `prefix`, in the order of the names. */
  objectEvents: [
    {
      readonly pid: Pid
      readonly prefix: string
      readonly after: string | null
      readonly through: number
      readonly limit: number
    },
    readonly StoredEvent[],
  ]
  /** All such events of one name up to `through`, the newest first. */
  objectVersions: [
    { readonly pid: Pid; readonly name: string; readonly through: number; readonly limit: number },
    readonly StoredEvent[],
  ]
  revocation: [{ readonly handle: string }, Revocation | null]
  trigger: [{ readonly id: string }, Trigger | null]
  /** In order of their ids. */
  triggers: [{ readonly after: string | null; readonly limit: number }, readonly Trigger[]]
  delivery: [{ readonly pid: Pid }, Delivery | null]
  /** Of one trigger, the newest first. `before`: only those with a lower number. */
  deliveries: [
    { readonly trigger: string; readonly before: number | null; readonly limit: number },
    readonly Delivery[],
  ]
  /**
   * The rules of a subject. The answer holds at the commit, like every other: if any rule set has changed, the plan is decided
   * again. But the row is not locked, so that plans which read the same rules do not wait for each other. A store may answer
   * with one object again and again while it is unchanged.
   */
  ruleSet: [{ readonly subject: string }, RuleSet | null]
  /** In order of their subjects. */
  ruleSets: [{ readonly after: string | null; readonly limit: number }, readonly RuleSet[]]
  ruleUse: [{ readonly id: string }, RuleUse | null]
  approval: [{ readonly id: string }, Approval | null]
  /** The oldest first. */
  approvals: [
    {
      readonly state?: ApprovalState
      /** What this person is asked: requests to this person, and those that any person may answer. */
      readonly person?: string
      readonly pid?: Pid
      /** By the time of the question; otherwise the oldest first. */
      readonly newestFirst?: boolean
      readonly after: number | null
      readonly limit: number
    },
    Page<Approval>,
  ]
  /**
   * The first pending approvals of the queue of one person or of all: the highest priority first, then the oldest. `pending` counts
   * the whole queue.
   */
  approvalQueue: [
    { readonly person?: string; readonly limit: number },
    { readonly approvals: readonly Approval[]; readonly pending: number },
  ]
  /**
   * Pending approvals whose time has come, the earliest first: to expire, to be pushed to people, or to be decided by people
   * instead of a reviewer.
   */
  approvalsDue: [{ readonly by?: DueBy; readonly at: number; readonly limit: number }, readonly Approval[]]
  /** When the next pending approval expires, or has to be pushed. */
  nextApprovalDue: [{ readonly by?: DueBy }, number | null]
  /**
   * Entries of the audit in their order, or the newest first. A store looks at a bounded number of entries for one page, so a
   * page may have fewer than `limit` items, or none, and still have a next one. Entries that hold no entry any more match no
   * filter.
   */
  audit: [
    AuditFilter & {
      readonly newestFirst?: boolean
      readonly after: number | null
      readonly limit: number
    },
    Page<ChainedEntry>,
  ]
  /** Links of the chain in their order, or the newest first. */
  auditLinks: [
    { readonly newestFirst?: boolean; readonly after: number | null; readonly limit: number },
    Page<AuditLink>,
  ]
  auditTail: [object, AuditTail]
  auditWindow: [{ readonly key: string }, AuditWindow | null]
  /** Windows that were opened before a time, the earliest first. */
  auditWindows: [{ readonly before: number; readonly limit: number }, readonly AuditWindow[]]
  /** Of all processes, or of those of a session and the sessions below it. */
  activity: [{ readonly session: string | null; readonly since: number | null }, Activity]
  /** The key of the last process, in the order of ends, that ended before a time or is older than the newest `keep`, if any. */
  pruneThrough: [{ readonly endedBefore: number | null; readonly keep: number | null }, EndKey | null]
  /** The facts that decide whether processes may be pruned: for some pids, or for a range, the earliest end first. */
  prunable: [
    (
      | { readonly pids: readonly Pid[] }
      | { readonly after: EndKey | null; readonly through: EndKey; readonly limit: number }
    ),
    readonly PruneCandidate[],
  ]
  /** The pids of processes that were pruned before a time. */
  tombstones: [{ readonly prunedBefore: number; readonly limit: number }, readonly Pid[]]
  /** How much data pruning could remove. */
  storage: [object, Storage]
  /** Rows that this store could not read; lists, claims and pages skip them. */
  unreadable: [object, readonly UnreadableRow[]]
  /** A random text of this store, from which one-shot keys are made. */
  secret: [object, string]
}

type QuestionName = keyof Questions
export type Question = { [Name in QuestionName]: { readonly ask: Name } & Questions[Name][0] }[QuestionName]
export type AnswerTo<Q extends Question> = Questions[Q['ask']][1]

/** The time of an approval that is due; `expiresAt` if none is given. */
export type DueBy = 'expiresAt' | 'pushAt' | 'reviewUntil'

/** The key of an ended process in the order of ends; `id` orders processes that ended at the same time. */
export interface EndKey {
  readonly endedAt: number
  /** Rises with every registration. */
  readonly id: number
}

export interface PruneCandidate extends PruneFacts {
  readonly id: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page continues; null if there is none. */
  readonly next: number | null
}

export interface Changes {
  readonly events: readonly StoredEvent[]
  /** The last committed position. */
  readonly position: number
  /** Events up to here may have been pruned: a follower behind it has missed some. */
  readonly prunedThrough: number
}

export interface StoredNotice extends Notice {
  /** Rises with every notice of the store. */
  readonly position: number
  readonly done: DoneHow | null
  /** The turns in which its process was observed. */
  readonly observed: readonly string[]
}

export interface Activity {
  readonly live: number
  /** When the newest live process was registered. */
  readonly newestAt: number | null
}

export interface Storage {
  /** Processes that have ended. */
  readonly ended: number
  readonly oldestEndedAt: number | null
  /** The size of the store on disk; null if it does not know. */
  readonly bytes: number | null
}
