import type { Account } from '../core/allowance/account.ts'
import type { RuleUse } from '../core/capability/rule-use.ts'
import type { Change } from '../core/change.ts'
import type { Group } from '../core/group/group.ts'
import type { Inbox } from '../core/inbox/inbox.ts'
import type { Liens } from '../core/lien/lien.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Schedule } from '../core/schedule/schedule.ts'
import type { Session } from '../core/session/session.ts'
import type { Delivery } from '../core/trigger/delivery.ts'
import type { Trigger } from '../core/trigger/trigger.ts'
import { know } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'

/** The rows of one plan with its changes so far, so that its later decisions see its earlier ones. */
export class WorkingRows {
  readonly changes: Change[] = []
  readonly #processes = new Map<Pid, ProcessRow | null>()
  // Few plans need these: each is made with its first row.
  #groups: Map<string, Group | null> | undefined
  #inboxes: Map<string, Inbox | null> | undefined
  #accounts: Map<string, Account | null> | undefined
  #ruleUses: Map<string, RuleUse | null> | undefined
  #sessions: Map<string, Session | null> | undefined
  #schedules: Map<string, Schedule | null> | undefined
  #liens: Map<string, Liens | null> | undefined
  #triggers: Map<string, Trigger | null> | undefined
  #deliveries: Map<Pid, Delivery> | undefined

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.changes.push(change)
      if (change.type === 'process') this.#processes.set(change.row.record.pid, change.row)
      if (change.type === 'prune') for (const { pid } of change.tombstones) this.#processes.set(pid, null)
      if (change.type === 'group') this.#groups = withRow(this.#groups, change.group.id, change.group)
      if (change.type === 'group_gone') this.#groups = withRow(this.#groups, change.id, null)
      if (change.type === 'inbox') this.#inboxes = withRow(this.#inboxes, change.inbox.scope, change.inbox)
      if (change.type === 'account') this.learnedAccount(change.account.id, change.account)
      if (change.type === 'account_gone') this.learnedAccount(change.id, null)
      if (change.type === 'schedule')
        this.#schedules = withRow(this.#schedules, change.schedule.id, change.schedule)
      if (change.type === 'schedule_gone') this.#schedules = withRow(this.#schedules, change.id, null)
      if (change.type === 'liens') this.#liens = withRow(this.#liens, change.liens.host, change.liens)
      if (change.type === 'trigger')
        this.#triggers = withRow(this.#triggers, change.trigger.id, change.trigger)
      if (change.type === 'trigger_gone') this.#triggers = withRow(this.#triggers, change.id, null)
      if (change.type === 'delivery')
        this.#deliveries = withRow(this.#deliveries, change.delivery.pid, change.delivery)
      if (change.type === 'rule_use') this.#ruleUses = withRow(this.#ruleUses, change.use.id, change.use)
    }
  }

  /** Undefined if the plan has not read it yet. */
  known(pid: Pid): ProcessRow | null | undefined {
    return this.#processes.get(pid)
  }

  learned(pid: Pid, row: ProcessRow | null): ProcessRow | null {
    this.#processes.set(pid, row)
    return row
  }

  *process(pid: Pid): PlanPart<ProcessRow | null> {
    const known = this.#processes.get(pid)
    return known === undefined ? this.learned(pid, yield* know({ ask: 'process', pid })) : known
  }

  /** Reads them in one round trip. */
  *processes(pids: readonly Pid[]): PlanPart<(ProcessRow | null)[]> {
    const unknown = pids.filter((pid) => !this.#processes.has(pid))
    if (unknown.length > 0) {
      const rows = yield unknown.map((pid) => ({ ask: 'process', pid }) as const)
      for (const [index, pid] of unknown.entries())
        this.learned(pid, (rows[index] ?? null) as ProcessRow | null)
    }
    return pids.map((pid) => this.#processes.get(pid) ?? null)
  }

  /** Undefined if the plan has not read it yet. */
  knownSession(id: string): Session | null | undefined {
    return this.#sessions?.get(id)
  }

  /** For a plan that changes no session. */
  *session(id: string): PlanPart<Session | null> {
    const known = this.#sessions?.get(id)
    if (known !== undefined) return known
    const found = yield* know({ ask: 'session', id })
    this.#sessions = withRow(this.#sessions, id, found)
    return found
  }

  *group(id: string): PlanPart<Group | null> {
    const known = this.#groups?.get(id)
    if (known !== undefined) return known
    return yield* know({ ask: 'group', id })
  }

  *inbox(scope: string): PlanPart<Inbox | null> {
    const known = this.#inboxes?.get(scope)
    if (known !== undefined) return known
    return yield* know({ ask: 'inbox', scope })
  }

  *schedule(id: string): PlanPart<Schedule | null> {
    const known = this.#schedules?.get(id)
    if (known !== undefined) return known
    return yield* know({ ask: 'schedule', id })
  }

  *liens(host: string): PlanPart<Liens | null> {
    const known = this.#liens?.get(host)
    if (known !== undefined) return known
    return yield* know({ ask: 'liens', host })
  }

  *trigger(id: string): PlanPart<Trigger | null> {
    const known = this.#triggers?.get(id)
    if (known !== undefined) return known
    return yield* know({ ask: 'trigger', id })
  }

  *delivery(pid: Pid): PlanPart<Delivery | null> {
    return this.#deliveries?.get(pid) ?? (yield* know({ ask: 'delivery', pid }))
  }

  learnedAccount(id: string, account: Account | null): void {
    this.#accounts = withRow(this.#accounts, id, account)
  }

  *account(id: string): PlanPart<Account | null> {
    const known = this.#accounts?.get(id)
    if (known !== undefined) return known
    return yield* know({ ask: 'account', id })
  }

  /** Reads them in one round trip. */
  *ruleUses(ids: readonly string[]): PlanPart<(RuleUse | null)[]> {
    const unknown = ids.filter((id) => this.#ruleUses?.has(id) !== true)
    if (unknown.length > 0) {
      const uses = yield unknown.map((id) => ({ ask: 'ruleUse', id }) as const)
      for (const [index, id] of unknown.entries())
        this.#ruleUses = withRow(this.#ruleUses, id, (uses[index] ?? null) as RuleUse | null)
    }
    return ids.map((id) => this.#ruleUses?.get(id) ?? null)
  }

  /** For a pid that was just generated: no process can have it. */
  assumeAbsent(pid: Pid): void {
    this.#processes.set(pid, null)
  }

  *replayed(pid: Pid, replayKey: string): PlanPart<StoredEvent | null> {
    for (const change of this.changes) {
      if (change.type !== 'process' || change.row.record.pid !== pid) continue
      const event = change.events.find((one) => one.replayKey === replayKey)
      // Its position is assigned at the commit; a repetition in the same plan does not need it.
      if (event !== undefined) return { ...event, position: 0 }
    }
    return yield* know({ ask: 'event', pid, replayKey })
  }
}

/** The rows with one more, in place. */
function withRow<Row>(rows: Map<string, Row> | undefined, id: string, row: Row): Map<string, Row> {
  return (rows ?? new Map<string, Row>()).set(id, row)
}
