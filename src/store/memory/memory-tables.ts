import type { Account } from '../../core/allowance/account.ts'
import type { Approval } from '../../core/approval/approval.ts'
import type { AuditLink, AuditStart } from '../../core/audit/chain.ts'
import type { AuditWindow } from '../../core/audit/window.ts'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import type { RuleUse } from '../../core/capability/rule-use.ts'
import type { Environment } from '../../core/environment/environment.ts'
import type { Group } from '../../core/group/group.ts'
import type { Inbox } from '../../core/inbox/inbox.ts'
import type { Holder } from '../../core/lease/holder.ts'
import type { Liens } from '../../core/lien/lien.ts'
import type { ObjectRow } from '../../core/object/entry.ts'
import type { Revocation } from '../../core/object/object.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRow, Tombstone } from '../../core/process/row.ts'
import type { Schedule } from '../../core/schedule/schedule.ts'
import type { Grant } from '../../core/session/grant.ts'
import type { Session, Turn } from '../../core/session/session.ts'
import type { Delivery } from '../../core/trigger/delivery.ts'
import type { Trigger } from '../../core/trigger/trigger.ts'
import type { StoredNotice } from '../contract.ts'

/** A row with the number that orders it in lists. */
export interface NumberedRow {
  readonly id: number
  readonly row: ProcessRow
}

export interface HeldHolder {
  readonly holder: Holder
  readonly renewedAt: number
  readonly expiresAt: number
}

/** The events of one process: the event with seq n is at index n - 1. */
export interface EventLog {
  readonly events: StoredEvent[]
  readonly byReplayKey: Map<string, StoredEvent>
}

export interface StoredBlob {
  readonly bytes: Uint8Array
  readonly putAt: number
}

/** An approval with the number that orders it in lists. */
export interface NumberedApproval {
  readonly place: number
  readonly approval: Approval
}

/** The tables that several memory stores share, and the nudges between them. */
export class MemoryTables {
  processes = new Map<Pid, NumberedRow>()
  events = new Map<Pid, EventLog>()
  /** All events, in order of position. */
  feed: StoredEvent[] = []
  tombstones = new Map<Pid, Tombstone>()
  holders = new Map<string, HeldHolder>()
  sessions = new Map<string, Session>()
  turns = new Map<string, Turn>()
  groups = new Map<string, Group>()
  grants = new Map<string, Grant>()
  environments = new Map<string, Environment>()
  /** Which actor uses which environment; `order` sorts the uses. */
  environmentUses = new Map<string, { readonly by: string; readonly ref: string; readonly order: number }>()
  /** By scope, in order of position. */
  notices = new Map<string, StoredNotice[]>()
  inboxes = new Map<string, Inbox>()
  accounts = new Map<string, Account>()
  schedules = new Map<string, Schedule>()
  liens = new Map<string, Liens>()
  /** By pid and by name, in the order of the events. */
  objects = new Map<Pid, Map<string, ObjectRow[]>>()
  revocations = new Map<string, Revocation>()
  triggers = new Map<string, Trigger>()
  deliveries = new Map<Pid, Delivery>()
  ruleSets = new Map<string, RuleSet>()
  ruleUses = new Map<string, RuleUse>()
  approvals = new Map<string, NumberedApproval>()
  /** In order of position. */
  /** Each has one entry. */
  audit: AuditLink[] = []
  auditStart: AuditStart | null = null
  auditWindows = new Map<string, AuditWindow>()
  blobs = new Map<string, StoredBlob>()
  blobReferences = new Map<string, { readonly pid: Pid; readonly hash: string }>()
  nextId = 1
  nextNoticePosition = 1
  nextUse = 1
  nextApproval = 1
  position = 0
  prunedThrough = 0
  live = 0
  readonly secret: string = crypto.randomUUID()
  readonly #nudges = new Set<() => void>()

  join(nudge: () => void): () => void {
    this.#nudges.add(nudge)
    return () => this.#nudges.delete(nudge)
  }

  nudgeOthers(own: () => void): void {
    for (const nudge of this.#nudges) if (nudge !== own) nudge()
  }
}
