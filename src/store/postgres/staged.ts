import type { Account } from '../../core/allowance/account.ts'
import type { DoneHow } from '../../core/change.ts'
import type { Environment } from '../../core/environment/environment.ts'
import { StoreError } from '../../core/errors.ts'
import type { Group } from '../../core/group/group.ts'
import type { Inbox } from '../../core/inbox/inbox.ts'
import type { Notice } from '../../core/inbox/notice.ts'
import type { Holder } from '../../core/lease/holder.ts'
import type { ProcessEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRow, Tombstone } from '../../core/process/row.ts'
import type { Grant } from '../../core/session/grant.ts'
import type { Session, Turn } from '../../core/session/session.ts'
import type { Change, Question } from '../contract.ts'
import { becameLive } from '../due.ts'
import {
  ABSENT,
  accountKey,
  eventKey,
  type Facts,
  groupKey,
  inboxKey,
  keyOf,
  processKey,
  sessionKey,
  turnKey,
} from './facts.ts'

/** The answer is not known yet, and has to be loaded. */
export const MISSING = Symbol('missing')
/** The answer depends on what is not committed yet: the plan has to wait for the next batch. */
export const LATER = Symbol('later')
/** The plan was decided on facts of different moments. */
export const STALE = Symbol('stale')

/** A row that a commit compares, as it was seen. */
export interface Guard {
  readonly question: Extract<
    Question,
    {
      ask:
        | ('process' | 'session' | 'turn' | 'group' | 'inbox' | 'account')
        | ('holder' | 'announced' | 'environment')
    }
  >
  readonly version: number
}

/** A row as it becomes, or null if it goes; `version` is the one it has in the database, 0 if it is not there. */
export interface StagedRow<Value> {
  readonly version: number
  readonly next: number
  readonly base: Value | null
  readonly value: Value
}

/** What one plan has been told. */
export interface Reading {
  readonly guards: Map<string, Guard>
  /** What was said to be absent without looking. */
  readonly assumed: Map<string, Question>
}

/**
 * The changes of a batch before they are committed, one state per row: what a plan sees on top of the facts, and what
 * the commit writes.
 */
export class Staged {
  readonly guards = new Map<string, Guard>()
  readonly processes = new Map<Pid, StagedRow<ProcessRow>>()
  readonly sessions = new Map<string, StagedRow<Session>>()
  readonly turns = new Map<string, StagedRow<Turn>>()
  readonly groups = new Map<string, StagedRow<Group | null>>()
  readonly inboxes = new Map<string, StagedRow<Inbox | null>>()
  readonly accounts = new Map<string, StagedRow<Account | null>>()
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
  /** Scopes whose notices are dropped, before `notices` come. */
  readonly dropped = new Set<string>()
  notices: Notice[] = []
  readonly noticesDone: { readonly scope: string; readonly place: number; readonly how: DoneHow }[] = []
  readonly observed: { readonly scope: string; readonly place: number; readonly turns: readonly string[] }[] =
    []
  readonly events: ProcessEvent[] = []
  live = 0
  /** Whether anything is to be written. */
  changed = false
  readonly #facts: Facts
  readonly #optimistic: boolean
  readonly #eventKeys = new Set<string>()

  /** `optimistic`: what is new to this store, and written by its plan, is new; the commit will tell if not. */
  constructor(facts: Facts, optimistic: boolean) {
    this.#facts = facts
    this.#optimistic = optimistic
  }

  answer(question: Question, reading: Reading): unknown {
    switch (question.ask) {
      case 'process': {
        if (this.tombstones.has(question.pid)) return null
        const staged = this.processes.get(question.pid)
        if (staged !== undefined) return staged.value
        const isKnown = this.#facts.get(keyOf(question)) !== undefined
        return isKnown ? this.#compared(question, reading) : this.#assumed(question, reading)
      }
      case 'session':
        return this.sessions.get(keyOf(question))?.value ?? this.#compared(question, reading)
      case 'turn':
        return this.turns.get(keyOf(question))?.value ?? this.#compared(question, reading)
      case 'group':
        return this.groups.has(keyOf(question))
          ? this.groups.get(keyOf(question))?.value
          : this.#compared(question, reading)
      case 'inbox':
        return this.inboxes.has(keyOf(question))
          ? this.inboxes.get(keyOf(question))?.value
          : this.#compared(question, reading)
      case 'account':
        return this.accounts.has(keyOf(question))
          ? this.accounts.get(keyOf(question))?.value
          : this.#compared(question, reading)
      case 'tombstone':
        return this.tombstones.get(question.pid) ?? this.#assumed(question, reading)
      case 'environment':
        return this.environments.get(question.ref) ?? this.#compared(question, reading)
      case 'event':
        return this.#event(question, reading)
      case 'eventAt': {
        const staged = this.processes.get(question.pid)
        const isStaged = staged !== undefined && question.seq > (staged.base?.record.revision ?? 0)
        return isStaged ? LATER : this.#known(question)
      }
      case 'holder':
        return this.holders.has(question.id) ? LATER : this.#compared(question, reading)
      case 'announced':
        return this.holders.has(question.id)
          ? this.holders.get(question.id) !== null
          : this.#compared(question, reading)
      case 'secret':
        return this.#known(question)
      default:
        // A list: the database answers it, and does not know yet what is staged.
        return this.changed ? LATER : this.#known(question)
    }
  }

  /** What has to be loaded before a plan's changes can be believed: rows they touch, and what was only assumed. */
  unproved(changes: readonly Change[], reading: Reading): Question[] {
    const open = new Map(reading.assumed)
    for (const row of changes.flatMap(rowOf)) {
      if (this.#facts.get(keyOf(row)) === undefined) open.set(keyOf(row), row)
    }
    if (this.#optimistic && open.size > 0) {
      for (const change of changes) if (change.type === 'process') prove(change, open)
    }
    return [...open.values()]
  }

  /** Whether something goes with all that hangs on it: nothing to build on before it is gone. */
  get isFinal(): boolean {
    return this.tombstones.size > 0 || this.goneSessions.size > 0 || this.endedUses.length > 0
  }

  /** All of a plan's changes, or none: then it says why. */
  apply(changes: readonly Change[], reading: Reading): 'applied' | typeof LATER | typeof STALE {
    if (this.changed && changes.some(isFinal)) return LATER
    if (!changes.every((change) => this.#isCurrent(change, changes))) return STALE
    for (const [key, guard] of reading.guards) this.guards.set(key, guard)
    for (const change of changes) this.#apply(change)
    this.changed ||= changes.length > 0
    return 'applied'
  }

  #compared(question: Guard['question'], reading: Reading): unknown {
    const key = keyOf(question)
    const fact = this.#facts.get(key)
    if (fact === undefined) return MISSING
    // The record cannot be read: the plan that needs it fails, and no other.
    if (fact.value instanceof StoreError) throw fact.value
    reading.guards.set(key, { question, version: fact.version })
    return fact.value
  }

  #known(question: Question): unknown {
    const fact = this.#facts.get(keyOf(question))
    return fact === undefined ? MISSING : fact.value
  }

  #event(question: Extract<Question, { ask: 'event' }>, reading: Reading): unknown {
    const { pid, replayKey } = question
    const key = eventKey(pid, replayKey)
    // It has no position before it is committed.
    if (this.#eventKeys.has(key)) return LATER
    if (this.processes.get(pid)?.version === 0) return null
    return this.#assumed(question, reading)
  }

  /**
   * Absent, unless known otherwise. A plan that then writes it needs no look, since the commit finds out; and one that
   * does not has at least told what else it wants to know, so that all of it is loaded at once.
   */
  #assumed(question: Question, reading: Reading): unknown {
    const key = keyOf(question)
    const fact = this.#facts.get(key)
    if (fact !== undefined) return fact.value
    reading.assumed.set(key, question)
    return null
  }

  /** Whether the row that a change was decided on is the one that is there. */
  #isCurrent(change: Change, changes: readonly Change[]): boolean {
    // The commit compares what is pruned itself: ended rows are many, and need not be loaded for that.
    if (change.type !== 'process') return true
    const { pid } = change.row.record
    const fact = this.#facts.get(processKey(pid)) ?? ABSENT
    const now = this.processes.get(pid)?.value ?? (fact.value as ProcessRow | null)
    if (sameRow(change.was, now)) return true
    if (change.was === null) throw new Error(`A registration of ${pid}, which is there already`)
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
        this.#stage(this.inboxes, inboxKey(change.scope), { ask: 'inbox', scope: change.scope }, null)
        return
      case 'notices_done':
        for (const place of change.places)
          this.noticesDone.push({ scope: change.scope, place, how: change.how })
        return
      case 'notice_observed':
        this.observed.push({ scope: change.scope, place: change.place, turns: change.turns })
        return
      case 'inbox': {
        const { scope } = change.inbox
        this.#stage(this.inboxes, inboxKey(scope), { ask: 'inbox', scope }, change.inbox)
        return
      }
      case 'account': {
        const { id } = change.account
        this.#stage(this.accounts, accountKey(id), { ask: 'account', id }, change.account)
        return
      }
      case 'account_gone':
        this.#stage(this.accounts, accountKey(change.id), { ask: 'account', id: change.id }, null)
        return
      case 'group':
        this.#stage(
          this.groups,
          groupKey(change.group.id),
          { ask: 'group', id: change.group.id },
          change.group,
        )
        return
      case 'group_gone':
        this.#stage(this.groups, groupKey(change.id), { ask: 'group', id: change.id }, null)
        return
      case 'session_gone':
        this.#guard({ ask: 'session', id: change.id })
        this.goneSessions.add(change.id)
        return
      case 'session': {
        const { id } = change.session
        this.#stage(this.sessions, sessionKey(id), { ask: 'session', id }, change.session)
        return
      }
      case 'turn': {
        const { session, id } = change.turn
        this.#stage(this.turns, turnKey(session, id), { ask: 'turn', session, id }, change.turn)
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
    }
  }

  #applyProcess({ was, row, events }: Extract<Change, { type: 'process' }>): void {
    const { pid } = row.record
    this.#stage(this.processes, pid, { ask: 'process', pid }, row)
    if (events.length === 0) return
    this.live += becameLive(was, row)
    for (const event of events) {
      this.events.push(event)
      if (event.replayKey !== null) this.#eventKeys.add(eventKey(pid, event.replayKey))
    }
  }

  #stage<Value>(
    rows: Map<string, StagedRow<Value>>,
    key: string,
    question: Guard['question'],
    value: Value,
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
    // What is unknown even now was assumed to be absent, and is about to be written.
    const fact = this.#facts.get(key) ?? ABSENT
    this.guards.set(key, { question, version: fact.version })
    return fact
  }
}

/** The commit fails where a new process, or one pruned under its pid, or an event with its key, is there already. */
function prove({ was, row, events }: Extract<Change, { type: 'process' }>, open: Map<string, Question>) {
  const { pid } = row.record
  if (was === null) {
    open.delete(processKey(pid))
    open.delete(keyOf({ ask: 'tombstone', pid }))
  }
  for (const { replayKey } of events) if (replayKey !== null) open.delete(eventKey(pid, replayKey))
}

function isFinal({ type }: Change): boolean {
  return type === 'prune' || type === 'session_gone' || type === 'environment_unused'
}

/** Never the same twice: a group or a session may go and come again, and is another one then. A pid is never reused. */
function newVersion(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return (high & 0xfffff) * 2 ** 32 + low + 1
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

function rowOf(change: Change): Guard['question'][] {
  switch (change.type) {
    case 'process':
      return [{ ask: 'process', pid: change.row.record.pid }]
    case 'group':
      return [{ ask: 'group', id: change.group.id }]
    case 'group_gone':
      return [{ ask: 'group', id: change.id }]
    case 'session':
      return [{ ask: 'session', id: change.session.id }]
    case 'session_gone':
      return [{ ask: 'session', id: change.id }]
    case 'inbox':
      return [{ ask: 'inbox', scope: change.inbox.scope }]
    case 'drop_notices':
      return [{ ask: 'inbox', scope: change.scope }]
    case 'account':
      return [{ ask: 'account', id: change.account.id }]
    case 'account_gone':
      return [{ ask: 'account', id: change.id }]
    case 'turn':
      return [{ ask: 'turn', session: change.turn.session, id: change.turn.id }]
    default:
      return []
  }
}
