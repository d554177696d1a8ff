import type { Account } from '../../core/allowance/account.ts'
import type { Approval } from '../../core/approval/approval.ts'
import type { AuditStart } from '../../core/audit/chain.ts'
import type { AuditEntry } from '../../core/audit/entry.ts'
import type { AuditWindow } from '../../core/audit/window.ts'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import type { RuleUse } from '../../core/capability/rule-use.ts'
import type { DoneHow } from '../../core/change.ts'
import type { Environment } from '../../core/environment/environment.ts'
import type { Group } from '../../core/group/group.ts'
import type { Inbox } from '../../core/inbox/inbox.ts'
import type { Notice } from '../../core/inbox/notice.ts'
import type { Holder } from '../../core/lease/holder.ts'
import type { Liens } from '../../core/lien/lien.ts'
import { type ObjectRow, objectRows } from '../../core/object/entry.ts'
import type { Revocation } from '../../core/object/object.ts'
import type { ProcessEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRow, Tombstone } from '../../core/process/row.ts'
import type { Schedule } from '../../core/schedule/schedule.ts'
import type { Grant } from '../../core/session/grant.ts'
import type { Session, Turn } from '../../core/session/session.ts'
import type { Delivery } from '../../core/trigger/delivery.ts'
import type { Trigger } from '../../core/trigger/trigger.ts'
import type { Change } from '../contract.ts'
import { becameLive } from '../due.ts'
import { changedSubjects, isFinal } from './changed-rows.ts'
import { ABSENT, eventKey, type Facts, keyOf, processKey } from './facts.ts'
import { LATER } from './plan-reading.ts'
import { type Guard, newVersion, type StagedRow } from './staged-row.ts'

/** The plan was decided on facts of different moments, which contradict each other. */
export const STALE = Symbol('stale')

export interface BlobReference {
  readonly pid: Pid
  readonly hash: string
  readonly isAdded: boolean
}

/** The rows and rules that the answers to one plan depend on. */
interface Reading {
  readonly guards: ReadonlyMap<string, Guard>
  readonly hasReadRules: boolean
}

/** The changes of a batch that is not committed yet, one state per row: later plans see it, and the commit writes it. */
export class Staged {
  readonly guards = new Map<string, Guard>()
  readonly processes = new Map<Pid, StagedRow<ProcessRow>>()
  readonly sessions = new Map<string, StagedRow<Session>>()
  readonly turns = new Map<string, StagedRow<Turn>>()
  readonly groups = new Map<string, StagedRow<Group | null>>()
  readonly inboxes = new Map<string, StagedRow<Inbox | null>>()
  readonly accounts = new Map<string, StagedRow<Account | null>>()
  readonly schedules = new Map<string, StagedRow<Schedule | null>>()
  readonly liens = new Map<string, StagedRow<Liens | null>>()
  readonly revocations = new Map<string, StagedRow<Revocation | null>>()
  readonly objects: ObjectRow[] = []
  readonly triggers = new Map<string, StagedRow<Trigger | null>>()
  readonly deliveries = new Map<string, StagedRow<Delivery | null>>()
  /** Applied after `deliveries`. */
  readonly prunedDeliveries = new Map<string, number>()
  readonly approvals = new Map<string, StagedRow<Approval | null>>()
  readonly ruleUses = new Map<string, StagedRow<RuleUse | null>>()
  readonly auditWindows = new Map<string, StagedRow<AuditWindow | null>>()
  /** By subject. They have no versions. */
  readonly ruleSets = new Map<string, Pick<StagedRow<RuleSet | null>, 'base' | 'value'>>()
  /** The epoch of the rule sets that the plans were decided on; null if they were decided on none. */
  epoch: number | null = null
  readonly audit: AuditEntry[] = []
  auditStart: AuditStart | null = null
  readonly goneSessions = new Set<string>()
  readonly tombstones = new Map<Pid, Tombstone>()
  readonly goneTombstones: Pid[] = []
  readonly environments = new Map<string, Environment>()
  readonly environmentUses: { readonly ref: string; readonly used_by: string }[] = []
  /** Applied after `environmentUses`. */
  readonly endedUses: { readonly ref: string; readonly used_by: string }[] = []
  readonly holders = new Map<string, { readonly holder: Holder; readonly ttlMs: number } | null>()
  readonly grants = new Map<string, Grant>()
  /** Applied before `grants`. */
  readonly revoked = new Map<string, { readonly session: string; readonly pid: Pid }>()
  /** Scopes whose notices are dropped, before `notices` are inserted. */
  readonly dropped = new Set<string>()
  notices: Notice[] = []
  readonly noticesDone: { readonly scope: string; readonly position: number; readonly how: DoneHow }[] = []
  readonly observed: {
    readonly scope: string
    readonly position: number
    readonly turns: readonly string[]
  }[] = []
  readonly events: ProcessEvent[] = []
  /** By pid and hash: whether the process refers to the blob from now on, or no longer. */
  readonly blobReferences = new Map<string, BlobReference>()
  live = 0
  /** Whether the commit has anything to write. */
  changed = false
  readonly #facts: Facts
  readonly #eventKeys = new Set<string>()
  #hasGoneRules = false

  constructor(facts: Facts) {
    this.#facts = facts
  }

  hasEvent(key: string): boolean {
    return this.#eventKeys.has(key)
  }

  /** Whether something is removed with everything that depends on it. No plan can build on that before it is committed. */
  get isFinal(): boolean {
    return (
      this.tombstones.size > 0 ||
      this.goneSessions.size > 0 ||
      this.endedUses.length > 0 ||
      this.#hasGoneRules
    )
  }

  /** Applies all changes of a plan; if it cannot, it applies none and returns the reason. */
  apply(changes: readonly Change[], reading: Reading): 'applied' | typeof LATER | typeof STALE {
    if (this.changed && changes.some(isFinal)) return LATER
    if (!changes.every((change) => this.#isCurrent(change, changes))) return STALE
    for (const [key, guard] of reading.guards) this.guards.set(key, guard)
    if (reading.hasReadRules || changes.some((change) => changedSubjects(change).length > 0))
      this.epoch = this.#facts.ruleSets.epoch
    for (const change of changes) this.#apply(change)
    this.changed ||= changes.length > 0
    return 'applied'
  }

  /** Whether the row that a change was decided on is still the current one. */
  #isCurrent(change: Change, changes: readonly Change[]): boolean {
    // Pruned rows are compared by the commit alone: there are many of them, and loading them would be slow.
    if (change.type !== 'process') return true
    const { pid } = change.row.record
    const fact = this.#facts.get(processKey(pid)) ?? ABSENT
    const now = this.processes.get(pid)?.value ?? (fact.value as ProcessRow | null)
    if (sameRow(change.was, now)) return true
    if (change.was === null) throw new Error(`A registration of ${pid}, which exists already`)
    return changes.some((other) => other !== change && other.type === 'process' && other.row === change.was)
  }

  #apply(change: Change): void {
    switch (change.type) {
      case 'process':
        this.#applyProcess(change)
        return
      case 'prune':
        for (const tombstone of change.tombstones) this.tombstones.set(tombstone.pid, tombstone)
        return
      case 'tombstones_gone':
        this.goneTombstones.push(...change.pids)
        return
      case 'notice':
        this.notices.push(change.notice)
        return
      case 'drop_notices':
        this.notices = this.notices.filter(({ scope }) => scope !== change.scope)
        this.dropped.add(change.scope)
        this.#stage(this.inboxes, { ask: 'inbox', scope: change.scope }, null)
        return
      case 'notices_done':
        for (const position of change.positions)
          this.noticesDone.push({ scope: change.scope, position, how: change.how })
        return
      case 'notice_observed':
        this.observed.push({ scope: change.scope, position: change.position, turns: change.turns })
        return
      case 'inbox':
        this.#stage(this.inboxes, { ask: 'inbox', scope: change.inbox.scope }, change.inbox)
        return
      case 'account':
        this.#stage(this.accounts, { ask: 'account', id: change.account.id }, change.account)
        return
      case 'account_gone':
        this.#stage(this.accounts, { ask: 'account', id: change.id }, null)
        return
      case 'group':
        this.#stage(this.groups, { ask: 'group', id: change.group.id }, change.group)
        return
      case 'group_gone':
        this.#stage(this.groups, { ask: 'group', id: change.id }, null)
        return
      case 'session_gone':
        this.#guard({ ask: 'session', id: change.id })
        this.goneSessions.add(change.id)
        return
      case 'session':
        this.#stage(this.sessions, { ask: 'session', id: change.session.id }, change.session)
        return
      case 'turn': {
        const { session, id } = change.turn
        this.#stage(this.turns, { ask: 'turn', session, id }, change.turn)
        return
      }
      case 'grant': {
        const key = JSON.stringify([change.grant.session, change.grant.pid])
        this.grants.set(key, { ...change.grant, at: this.grants.get(key)?.at ?? change.grant.at })
        return
      }
      case 'revoke': {
        const key = JSON.stringify([change.session, change.pid])
        this.grants.delete(key)
        this.revoked.set(key, { session: change.session, pid: change.pid })
        return
      }
      case 'environment':
        if (!this.environments.has(change.ref)) this.environments.set(change.ref, change.environment)
        return
      case 'environment_used':
        this.environmentUses.push({ ref: change.ref, used_by: change.by })
        return
      case 'environment_unused':
        this.endedUses.push({ ref: change.ref, used_by: change.by })
        return
      case 'holder':
        this.holders.set(change.holder.id, { holder: change.holder, ttlMs: change.ttlMs })
        return
      case 'holder_gone':
        this.holders.set(change.id, null)
        return
      case 'schedule':
        this.#stage(this.schedules, { ask: 'schedule', id: change.schedule.id }, change.schedule)
        return
      case 'schedule_gone':
        this.#stage(this.schedules, { ask: 'schedule', id: change.id }, null)
        return
      case 'liens':
        this.#stage(this.liens, { ask: 'liens', host: change.liens.host }, change.liens)
        return
      case 'revocation': {
        const { handle } = change.revocation
        this.#stage(this.revocations, { ask: 'revocation', handle }, change.revocation)
        return
      }
      case 'trigger':
        this.#stage(this.triggers, { ask: 'trigger', id: change.trigger.id }, change.trigger)
        return
      case 'trigger_gone':
        this.#stage(this.triggers, { ask: 'trigger', id: change.id }, null)
        return
      case 'delivery':
        this.#stage(this.deliveries, { ask: 'delivery', pid: change.delivery.pid }, change.delivery)
        return
      case 'deliveries_gone':
        this.prunedDeliveries.set(change.trigger, change.through)
        return
      case 'rule_set':
        this.#stageRuleSet(change.ruleSet.subject, change.ruleSet)
        return
      case 'rule_set_gone':
        this.#stageRuleSet(change.subject, null)
        this.#hasGoneRules = true
        return
      case 'rule_use':
        this.#stage(this.ruleUses, { ask: 'ruleUse', id: change.use.id }, change.use)
        return
      case 'rule_use_gone':
        this.#stage(this.ruleUses, { ask: 'ruleUse', id: change.id }, null)
        return
      case 'approval':
        this.#stage(this.approvals, { ask: 'approval', id: change.approval.id }, change.approval)
        return
      case 'audit':
        this.audit.push(change.entry)
        return
      case 'audit_pruned':
        if (change.start.position > (this.auditStart?.position ?? 0)) this.auditStart = change.start
        return
      case 'audit_window':
        this.#stage(this.auditWindows, { ask: 'auditWindow', key: change.window.key }, change.window)
        return
      case 'audit_window_gone':
        this.#stage(this.auditWindows, { ask: 'auditWindow', key: change.key }, null)
        return
    }
  }

  #applyProcess({ was, row, events, blobs }: Extract<Change, { type: 'process' }>): void {
    const { pid } = row.record
    this.#stage(this.processes, { ask: 'process', pid }, row, pid)
    if (blobs !== undefined) {
      for (const hash of blobs.removed) this.#refer({ pid, hash, isAdded: false })
      for (const hash of blobs.added) this.#refer({ pid, hash, isAdded: true })
    }
    if (events.length === 0) return
    this.live += becameLive(was, row)
    this.objects.push(...objectRows(row.record, events))
    for (const event of events) {
      this.events.push(event)
      if (event.replayKey !== null) this.#eventKeys.add(eventKey(pid, event.replayKey))
    }
  }

  #refer(reference: BlobReference): void {
    this.blobReferences.set(`${reference.pid} ${reference.hash}`, reference)
  }

  #stageRuleSet(subject: string, value: RuleSet | null): void {
    const staged = this.ruleSets.get(subject)
    const base = staged === undefined ? (this.#facts.ruleSets.get(subject) ?? null) : staged.base
    this.ruleSets.set(subject, { base, value })
  }

  #stage<Value>(
    rows: Map<string, StagedRow<Value>>,
    question: Guard['question'],
    value: Value,
    key = keyOf(question),
  ): void {
    const staged = rows.get(key)
    if (staged !== undefined) {
      rows.set(key, { ...staged, value })
      return
    }
    const { version, value: base } = this.#guard(question)
    const next = question.ask === 'process' ? version + 1 : newVersion()
    rows.set(key, { version, next, base: base as Value | null, value })
  }

  #guard(question: Guard['question']) {
    const key = keyOf(question)
    // A row that is still unknown was assumed to be absent, and is about to be written.
    const fact = this.#facts.get(key) ?? ABSENT
    this.guards.set(key, { question, version: fact.version })
    return fact
  }
}

function sameRow(a: ProcessRow | null, b: ProcessRow | null): boolean {
  if (a === b) return true
  if (a === null || b === null) return false
  return (
    a.record.revision === b.record.revision &&
    a.fence === b.fence &&
    a.holder === b.holder &&
    a.carry === b.carry
  )
}
