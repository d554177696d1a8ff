import type { Approval } from '../../core/approval/approval.ts'
import type { AuditStart } from '../../core/audit/chain.ts'
import { linkTexts } from '../../core/audit/link.ts'
import type { BlobChanges } from '../../core/blob/blob.ts'
import { blobMissing } from '../../core/blob/blob-missing.ts'
import type { Notice } from '../../core/inbox/notice.ts'
import { type ObjectRow, objectRows } from '../../core/object/entry.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import { subjectsOf } from '../../core/tool/written-tool.ts'
import { type Delivery, isWaiting } from '../../core/trigger/delivery.ts'
import { chained } from '../chain-hash.ts'
import type { Change, StoredNotice } from '../contract.ts'
import { becameLive } from '../due.ts'
import { auditTail } from './authority.ts'
import { environmentsOf, eventsOf, pairKey } from './keys.ts'
import type { MemoryTables } from './memory-tables.ts'
import { UndoLog } from './undo-log.ts'

/** Applies the changes of one transaction. */
export class ChangeWriter {
  /** The events that the transaction has appended. */
  readonly events: StoredEvent[] = []
  readonly #tables: MemoryTables
  readonly #now: () => number
  readonly #log = new UndoLog()
  #hasMovedFeed = false

  constructor(tables: MemoryTables, now: () => number) {
    this.#tables = tables
    this.#now = now
  }

  get hasChanges(): boolean {
    return !this.#log.isEmpty
  }

  /** Whether the transaction has appended to the feed, or pruned from it. */
  get hasMovedFeed(): boolean {
    return this.#hasMovedFeed
  }

  rollBack(): void {
    this.#log.rollBack()
  }

  apply(change: Change): void {
    const tables = this.#tables
    const log = this.#log
    switch (change.type) {
      case 'process':
        this.#applyProcess(change)
        return
      case 'prune':
        this.#applyPrune(change)
        return
      case 'tombstones_gone':
        for (const pid of change.pids) log.remove(tables.tombstones, pid)
        return
      case 'notice':
        this.#applyNotice(change.notice)
        return
      case 'drop_notices':
        log.remove(tables.notices, change.scope)
        log.remove(tables.inboxes, change.scope)
        return
      case 'notices_done':
        this.#mapNotices(change.scope, (notice) =>
          change.positions.includes(notice.position) && notice.done === null
            ? { ...notice, done: change.how }
            : notice,
        )
        return
      case 'notice_observed':
        this.#mapNotices(change.scope, (notice) =>
          notice.position === change.position ? { ...notice, observed: [...change.turns] } : notice,
        )
        return
      case 'inbox':
        log.put(tables.inboxes, change.inbox.scope, asStored(change.inbox))
        return
      case 'account':
        log.put(tables.accounts, change.account.id, asStored(change.account))
        return
      case 'account_gone':
        log.remove(tables.accounts, change.id)
        return
      case 'group':
        log.put(tables.groups, change.group.id, asStored(change.group))
        return
      case 'group_gone':
        log.remove(tables.groups, change.id)
        return
      case 'session_gone':
        log.remove(tables.sessions, change.id)
        for (const [key, turn] of tables.turns) if (turn.session === change.id) log.remove(tables.turns, key)
        this.#endUsesBy(`session:${change.id}`)
        this.#dropRuleSet(`session:${change.id}`)
        return
      case 'session':
        log.put(tables.sessions, change.session.id, asStored(change.session))
        return
      case 'turn':
        log.put(tables.turns, pairKey(change.turn.session, change.turn.id), asStored(change.turn))
        return
      case 'grant': {
        const key = pairKey(change.grant.session, change.grant.pid)
        const at = tables.grants.get(key)?.at ?? change.grant.at
        log.put(tables.grants, key, { ...asStored(change.grant), at })
        return
      }
      case 'revoke':
        log.remove(tables.grants, pairKey(change.session, change.pid))
        return
      case 'environment':
        if (!tables.environments.has(change.ref))
          log.put(tables.environments, change.ref, asStored(change.environment))
        return
      case 'environment_used':
        this.#beginUse(change.ref, change.by)
        return
      case 'environment_unused':
        this.#endUse(change.ref, change.by)
        return
      case 'holder': {
        const renewedAt = this.#now()
        const held = { holder: asStored(change.holder), renewedAt, expiresAt: renewedAt + change.ttlMs }
        log.put(tables.holders, change.holder.id, held)
        return
      }
      case 'holder_gone':
        log.remove(tables.holders, change.id)
        return
      case 'schedule':
        log.put(tables.schedules, change.schedule.id, asStored(change.schedule))
        return
      case 'schedule_gone':
        log.remove(tables.schedules, change.id)
        return
      case 'liens':
        log.put(tables.liens, change.liens.host, asStored(change.liens))
        return
      case 'revocation':
        log.put(tables.revocations, change.revocation.handle, asStored(change.revocation))
        return
      case 'trigger':
        log.put(tables.triggers, change.trigger.id, asStored(change.trigger))
        return
      case 'trigger_gone':
        log.remove(tables.triggers, change.id)
        this.#dropDeliveries((delivery) => delivery.trigger === change.id)
        return
      case 'delivery':
        log.put(tables.deliveries, change.delivery.pid, asStored(change.delivery))
        return
      case 'deliveries_gone':
        this.#dropDeliveries(
          (delivery) =>
            delivery.trigger === change.trigger && delivery.number <= change.through && !isWaiting(delivery),
        )
        return
      case 'rule_set':
        log.put(tables.ruleSets, change.ruleSet.subject, asStored(change.ruleSet))
        return
      case 'rule_set_gone':
        this.#dropRuleSet(change.subject)
        return
      case 'rule_use':
        log.put(tables.ruleUses, change.use.id, asStored(change.use))
        return
      case 'rule_use_gone':
        log.remove(tables.ruleUses, change.id)
        return
      case 'approval':
        this.#putApproval(change.approval)
        return
      case 'audit':
        for (const text of linkTexts([change.entry])) log.push(tables.audit, chained(auditTail(tables), text))
        return
      case 'audit_pruned':
        this.#pruneAudit(change.start)
        return
      case 'audit_window':
        log.put(tables.auditWindows, change.window.key, asStored(change.window))
        return
      case 'audit_window_gone':
        log.remove(tables.auditWindows, change.key)
        return
    }
  }

  #applyProcess({ was, row, events, blobs }: Extract<Change, { type: 'process' }>): void {
    const tables = this.#tables
    const { pid } = row.record
    const known = tables.processes.get(pid)
    if (was === null && known !== undefined) throw new ConstraintError(`${pid} exists already`)
    if (was !== null && known === undefined) throw new Error(`A change of ${pid}, which does not exist`)
    const id = known?.id ?? tables.nextId
    if (known === undefined) this.#log.assign(tables, 'nextId', id + 1)
    // Copies, as from a disk: no caller holds a reference into the tables, and values that JSON cannot hold are lost.
    const stored = was !== null && was.record === row.record ? (known?.row.record ?? row.record) : row.record
    this.#log.put(tables.processes, pid, {
      id,
      row: { ...row, record: stored === row.record ? asStored(row.record) : stored },
    })
    if (blobs !== undefined) this.#changeBlobReferences(pid, blobs)
    this.#addObjects(objectRows(row.record, events))
    if (events.length === 0) return
    this.#hasMovedFeed = true
    this.#log.assign(tables, 'live', tables.live + becameLive(was, row))
    for (const event of events) this.#append({ ...asStored(event), position: tables.position + 1 })
  }

  #changeBlobReferences(pid: Pid, { added, removed }: BlobChanges): void {
    const { blobs, blobReferences } = this.#tables
    for (const hash of removed) this.#log.remove(blobReferences, pairKey(pid, hash))
    const missing = added.filter((hash) => !blobs.has(hash))
    if (missing.length > 0) throw blobMissing(missing)
    for (const hash of added) this.#log.put(blobReferences, pairKey(pid, hash), { pid, hash })
  }

  #addObjects(rows: readonly ObjectRow[]): void {
    const { objects } = this.#tables
    for (const row of rows) {
      const names = objects.get(row.pid) ?? new Map<string, ObjectRow[]>()
      if (!objects.has(row.pid)) this.#log.put(objects, row.pid, names)
      const known = names.get(row.name) ?? []
      if (!names.has(row.name)) this.#log.put(names, row.name, known)
      this.#log.push(known, row)
    }
  }

  #append(event: StoredEvent): void {
    const tables = this.#tables
    const { pid, seq, replayKey } = event
    if (!tables.events.has(pid)) this.#log.put(tables.events, pid, { events: [], byReplayKey: new Map() })
    const log = tables.events.get(pid)
    if (log === undefined || seq !== log.events.length + 1)
      throw new ConstraintError(`Event ${seq} of ${pid} does not follow its last`)
    if (replayKey !== null && log.byReplayKey.has(replayKey))
      throw new ConstraintError(`${pid} already has an event with the replay key ${replayKey}`)
    this.#log.assign(tables, 'position', event.position)
    this.#log.push(log.events, event)
    this.#log.push(tables.feed, event)
    if (replayKey !== null) this.#log.put(log.byReplayKey, replayKey, event)
    this.events.push(event)
  }

  #applyNotice(notice: Notice): void {
    const tables = this.#tables
    const { scope, pid, seq, kind } = notice
    if (!tables.notices.has(scope)) this.#log.put(tables.notices, scope, [])
    const told = tables.notices.get(scope) ?? []
    if (told.some((other) => other.pid === pid && other.seq === seq && other.kind === kind))
      throw new ConstraintError(`${scope} already has a notice about event ${seq} of ${pid}`)
    this.#log.push(told, {
      ...asStored(notice),
      position: tables.nextNoticePosition,
      done: null,
      observed: [],
    })
    this.#log.assign(tables, 'nextNoticePosition', tables.nextNoticePosition + 1)
  }

  #mapNotices(scope: string, changed: (notice: StoredNotice) => StoredNotice): void {
    const { notices } = this.#tables
    this.#log.put(notices, scope, (notices.get(scope) ?? []).map(changed))
  }

  #applyPrune({ tombstones }: Extract<Change, { type: 'prune' }>): void {
    const tables = this.#tables
    const pruned = new Set(tombstones.map(({ pid }) => pid))
    this.#hasMovedFeed = true
    for (const tombstone of tombstones) {
      const { pid } = tombstone
      if (!tables.processes.has(pid)) throw new Error(`A change of ${pid}, which does not exist`)
      const last = eventsOf(tables, pid).at(-1)?.position ?? 0
      this.#log.assign(tables, 'prunedThrough', Math.max(tables.prunedThrough, last))
      this.#log.remove(tables.processes, pid)
      this.#log.remove(tables.events, pid)
      this.#log.remove(tables.objects, pid)
      this.#endUsesBy(`process:${pid}`)
      for (const subject of subjectsOf(pid)) this.#dropRuleSet(subject)
      this.#log.put(tables.tombstones, pid, asStored(tombstone))
    }
    const feed = tables.feed.filter((event) => !pruned.has(event.pid))
    this.#log.assign(tables, 'feed', feed)
    for (const [scope, told] of tables.notices) {
      const left = told.filter((notice) => !pruned.has(notice.pid))
      if (left.length < told.length) this.#log.put(tables.notices, scope, left)
    }
    for (const [key, grant] of tables.grants) if (pruned.has(grant.pid)) this.#log.remove(tables.grants, key)
    for (const [key, { pid }] of tables.blobReferences)
      if (pruned.has(pid)) this.#log.remove(tables.blobReferences, key)
    for (const [handle, { root }] of tables.revocations)
      if (pruned.has(root)) this.#log.remove(tables.revocations, handle)
    for (const [id, { approval }] of tables.approvals)
      if (pruned.has(approval.pid)) this.#log.remove(tables.approvals, id)
  }

  /** With the uses of its rules. */
  #dropDeliveries(isGone: (delivery: Delivery) => boolean): void {
    const { deliveries } = this.#tables
    for (const delivery of [...deliveries.values()])
      if (isGone(delivery)) this.#log.remove(deliveries, delivery.pid)
  }

  #dropRuleSet(dropped: string): void {
    const { ruleSets, ruleUses } = this.#tables
    this.#log.remove(ruleSets, dropped)
    for (const [id, { subject }] of ruleUses) if (subject === dropped) this.#log.remove(ruleUses, id)
  }

  #putApproval(approval: Approval): void {
    const tables = this.#tables
    const known = tables.approvals.get(approval.id)
    const place = known?.place ?? tables.nextApproval
    if (known === undefined) this.#log.assign(tables, 'nextApproval', place + 1)
    this.#log.put(tables.approvals, approval.id, { place, approval: asStored(approval) })
  }

  #pruneAudit(start: AuditStart): void {
    const tables = this.#tables
    if (start.position <= (tables.auditStart?.position ?? 0)) return
    this.#log.assign(tables, 'auditStart', asStored(start))
    const left = tables.audit.filter(({ position }) => position > start.position)
    this.#log.assign(tables, 'audit', left)
  }

  #beginUse(ref: string, by: string): void {
    const tables = this.#tables
    const key = pairKey(by, ref)
    if (tables.environmentUses.has(key)) return
    this.#log.put(tables.environmentUses, key, { by, ref, order: tables.nextUse })
    this.#log.assign(tables, 'nextUse', tables.nextUse + 1)
  }

  /** An environment is removed with its last use. */
  #endUse(ref: string, by: string): void {
    const { environmentUses, environments } = this.#tables
    const key = pairKey(by, ref)
    if (!environmentUses.has(key)) return
    this.#log.remove(environmentUses, key)
    if (![...environmentUses.values()].some((use) => use.ref === ref)) this.#log.remove(environments, ref)
  }

  #endUsesBy(by: string): void {
    for (const ref of environmentsOf(this.#tables, by)) this.#endUse(ref, by)
  }
}

/** A change that the tables cannot hold, such as a duplicate key: the fault of its plan. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
}

function asStored<Thing>(thing: Thing): Thing {
  return JSON.parse(JSON.stringify(thing)) as Thing
}
