import type { Account } from './allowance/account.ts'
import type { Approval } from './approval/approval.ts'
import type { AuditStart } from './audit/chain.ts'
import type { AuditEntry } from './audit/entry.ts'
import type { AuditWindow } from './audit/window.ts'
import type { BlobChanges } from './blob/blob.ts'
import type { RuleSet } from './capability/rule-set.ts'
import type { RuleUse } from './capability/rule-use.ts'
import type { Environment } from './environment/environment.ts'
import type { Group } from './group/group.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { Notice } from './inbox/notice.ts'
import type { JsonObject } from './json/json.ts'
import type { Holder } from './lease/holder.ts'
import type { Liens } from './lien/lien.ts'
import type { Revocation } from './object/object.ts'
import type { ProcessEvent } from './process/event.ts'
import type { Pid } from './process/pid.ts'
import type { Actor } from './process/record.ts'
import type { ProcessRow, Tombstone } from './process/row.ts'
import type { Schedule } from './schedule/schedule.ts'
import type { Grant } from './session/grant.ts'
import type { Session, Turn } from './session/session.ts'
import type { Delivery } from './trigger/delivery.ts'
import type { Trigger } from './trigger/trigger.ts'

/** How a notice was done with: a consumer acknowledged it, or read the facts from the process itself. */
export const DONE_HOW = ['acknowledged', 'consumed'] as const
export type DoneHow = (typeof DONE_HOW)[number]

/**
 * A write of a decision to the store: rows as they become, with the rows they were decided on (`was`), so that a
 * store without serial transactions can detect a concurrent write. All changes of one decision happen, or none.
 */
export type Change =
  | {
      readonly type: 'process'
      readonly was: ProcessRow | null
      readonly row: ProcessRow
      readonly events: readonly ProcessEvent[]
      /** If an added blob is not in the store, nothing of the commit is written: `blob_missing`. */
      readonly blobs?: BlobChanges
    }
  /**
   * Ended processes are removed with their events, notices, grants, uses of environments, references to blobs, names of objects,
   * approvals and rule sets, the root of a tree with the revocations of its handles; `keepReason` was null for each.
   */
  | { readonly type: 'prune'; readonly tombstones: readonly Tombstone[] }
  | { readonly type: 'tombstones_gone'; readonly pids: readonly Pid[] }
  | { readonly type: 'notice'; readonly notice: Notice }
  /** These notices are done. Those that are done already stay as they are. */
  | {
      readonly type: 'notices_done'
      readonly scope: string
      readonly positions: readonly number[]
      readonly how: DoneHow
    }
  /** The turns in which the addressee has read the process itself. */
  | {
      readonly type: 'notice_observed'
      readonly scope: string
      readonly position: number
      readonly turns: readonly string[]
    }
  /** With the state of their inbox. */
  | { readonly type: 'drop_notices'; readonly scope: string }
  | { readonly type: 'inbox'; readonly was: Inbox | null; readonly inbox: Inbox }
  | { readonly type: 'account'; readonly was: Account | null; readonly account: Account }
  | { readonly type: 'account_gone'; readonly id: string }
  | { readonly type: 'group'; readonly was: Group | null; readonly group: Group }
  /** A complete group has made its notice: nothing is left to count. */
  | { readonly type: 'group_gone'; readonly id: string }
  | { readonly type: 'session'; readonly was: Session | null; readonly session: Session }
  | { readonly type: 'turn'; readonly was: Turn | null; readonly turn: Turn }
  /** With its turns, its uses of environments, and its rule set. */
  | { readonly type: 'session_gone'; readonly id: string }
  | { readonly type: 'grant'; readonly grant: Grant }
  | { readonly type: 'revoke'; readonly session: string; readonly pid: string }
  | { readonly type: 'environment'; readonly ref: string; readonly environment: Environment }
  /** By the actor that stored it, or by a process that runs in it. */
  | { readonly type: 'environment_used'; readonly ref: string; readonly by: Actor }
  /** An environment is removed with its last use. */
  | { readonly type: 'environment_unused'; readonly ref: string; readonly by: Actor }
  /** Announces or renews: valid for `ttlMs` from now, by the store's own clock. */
  | { readonly type: 'holder'; readonly holder: Holder; readonly ttlMs: number }
  | { readonly type: 'holder_gone'; readonly id: string }
  | { readonly type: 'schedule'; readonly was: Schedule | null; readonly schedule: Schedule }
  | { readonly type: 'schedule_gone'; readonly id: string }
  | { readonly type: 'liens'; readonly was: Liens | null; readonly liens: Liens }
  /** A handle gives no right any more. */
  | { readonly type: 'revocation'; readonly was: Revocation | null; readonly revocation: Revocation }
  | { readonly type: 'trigger'; readonly was: Trigger | null; readonly trigger: Trigger }
  /** With its deliveries. */
  | { readonly type: 'trigger_gone'; readonly id: string }
  | { readonly type: 'delivery'; readonly was: Delivery | null; readonly delivery: Delivery }
  /** Deliveries of a trigger up to this number are removed, without those that wait. */
  | { readonly type: 'deliveries_gone'; readonly trigger: string; readonly through: number }
  /** Raises the authority epoch: every plan that was decided on rule sets and is not committed yet is decided again. */
  | { readonly type: 'rule_set'; readonly was: RuleSet | null; readonly ruleSet: RuleSet }
  /** With the uses of its rules. Raises the epoch, if there was a rule set. */
  | { readonly type: 'rule_set_gone'; readonly subject: string }
  | { readonly type: 'rule_use'; readonly was: RuleUse | null; readonly use: RuleUse }
  | { readonly type: 'rule_use_gone'; readonly id: string }
  | { readonly type: 'approval'; readonly was: Approval | null; readonly approval: Approval }
  /** Appended to the chain in the order of the changes. It is no event: the feed does not move. */
  | {
      readonly type: 'audit'
      readonly entry: AuditEntry
      /** The specs that the entry is about: secrets in their variables are masked in the entry. Not stored. */
      readonly about?: readonly JsonObject[]
    }
  /** Entries up to the start are removed. A start before the present one changes nothing. */
  | { readonly type: 'audit_pruned'; readonly start: AuditStart }
  | {
      readonly type: 'audit_window'
      readonly was: AuditWindow | null
      readonly window: AuditWindow
      /** As that of an entry. */
      readonly about?: readonly JsonObject[]
    }
  | { readonly type: 'audit_window_gone'; readonly key: string }
