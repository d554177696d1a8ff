import { canonical } from '../../src/core/json/canonical.ts'
import type { Json } from '../../src/core/json/json.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import type { ProcessEvent, StoredEvent } from '../../src/core/process/event.ts'
import { evolve } from '../../src/core/process/evolve.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import type { Session } from '../../src/core/session/session.ts'
import type { Change } from '../../src/store/contract.ts'
import type { Observer } from './observer.ts'
import type { Stage } from './stage.ts'

export type ProcessChange = Extract<Change, { type: 'process' }>

/** The simulator's knowledge about one process, from the commits. */
export interface Entry {
  readonly pid: Pid
  row: ProcessRow
  /** The simulator's own fold of the events in the file. */
  record: ProcessRecord
  readonly events: StoredEvent[]
  /** The lease under which each event was committed, at index `seq - 1`. */
  readonly leases: Lease[]
  /** The holder that got each fence. */
  readonly granted: Map<number, string>
  /** The fences under which the process was executed, in order. */
  readonly begun: number[]
}

/** A plan of a commit: its changes were written together, or not at all. */
export interface CommittedPlan {
  readonly changes: readonly Change[]
  readonly answer: unknown
}

/** The kernel that committed. */
export interface Committer {
  readonly now: number
  readonly host: string
}

export interface Check {
  /** Called with each plan of a commit, before its changes; one that only refused has none. */
  plan?(plan: CommittedPlan, by: Committer): void
  /** Called with one change of one process, in the order of commit; `before` is the state before it. */
  process?(change: ProcessChange, before: Entry | undefined, stored: readonly StoredEvent[]): void
  /** Called with any other change, in the same order; `now` is the time by the writer's clock. */
  other?(change: Exclude<Change, { type: 'process' }>, now: number): void
  /** Called after a commit, with the processes that it changed. */
  committed?(touched: readonly Entry[]): void
  /** Compares everything, at intervals and at the end. */
  full?(): void
}

/**
 * The truth about the file: what every commit changed, read back at once over another connection. Every acknowledged write
 * must be here, and everything here must be in the file.
 */
export class Ledger {
  readonly processes = new Map<Pid, Entry>()
  readonly pruned = new Map<Pid, Entry>()
  /** Events up to this position may have been pruned. */
  prunedThrough = 0
  /** All events, with pruned ones, by position. */
  readonly log: StoredEvent[] = []
  readonly checks: Check[] = []
  /** Processes that may have exceeded their allowance, because they were charged after the work. */
  readonly overrunning = new Set<Pid>()
  /** Holders whose removal by an operator was acknowledged. */
  readonly removed = new Set<string>()
  /** The counted rules whose uses are reserved for a process, or were used by it. */
  readonly uses = new Map<Pid, readonly string[]>()
  readonly sessions = new Map<string, Session>()
  /** When, by the world's clock, an event was committed (by position) or a process pruned (by pid). */
  readonly since = new Map<number | Pid, number>()
  readonly observer: Observer
  readonly #stage: Stage

  constructor(stage: Stage, observer: Observer) {
    this.#stage = stage
    this.observer = observer
  }

  get position(): number {
    return this.log.at(-1)?.position ?? 0
  }

  entry(pid: Pid): Entry | undefined {
    return this.processes.get(pid) ?? this.pruned.get(pid)
  }

  eventByKey(pid: Pid, replayKey: string): StoredEvent | undefined {
    return this.entry(pid)?.events.find((event) => event.replayKey === replayKey)
  }

  /** Called right after the database has committed, before anything else can happen. */
  committed(plans: readonly CommittedPlan[], by: Committer): void {
    const fresh = [...this.observer.eventsAfter(this.position)]
    const touched = new Set<Entry>()
    for (const plan of plans) {
      for (const check of this.checks) check.plan?.(plan, by)
      for (const change of plan.changes) this.#changed(change, fresh, touched, by.now)
    }
    if (fresh.length > 0)
      this.#stage.violated('one write path', `${fresh.length} events are in the file that no commit wrote`)
    const live = [...touched].filter(({ pid }) => this.processes.has(pid))
    for (const check of this.checks) check.committed?.(live)
  }

  #changed(change: Change, fresh: StoredEvent[], touched: Set<Entry>, now: number): void {
    if (change.type === 'process') {
      const events = this.#match(change, fresh)
      for (const check of this.checks)
        check.process?.(change, this.processes.get(change.row.record.pid), events)
      touched.add(this.#note(change, events))
    } else {
      for (const check of this.checks) check.other?.(change, now)
      if (change.type === 'prune') for (const { pid } of change.tombstones) this.#prune(pid)
      if (change.type === 'session') this.sessions.set(change.session.id, change.session)
      if (change.type === 'session_gone') this.sessions.delete(change.id)
    }
  }

  checkAll(): void {
    for (const check of this.checks) check.full?.()
  }

  /** Takes the events of this change from the new events of the file. */
  #match(change: ProcessChange, fresh: StoredEvent[]): StoredEvent[] {
    const found: StoredEvent[] = []
    for (const event of change.events) {
      const next = fresh.shift()
      if (next === undefined || !sameEvent(next, event)) {
        this.#stage.violated(
          'no lost acknowledged write',
          `event ${event.seq} (${event.type}) of ${event.pid} was committed and is not in the file`,
        )
        return found
      }
      found.push(next)
      this.log.push(next)
      this.since.set(next.position, this.#stage.now)
      this.#stage.counts.event(next.type.startsWith('signal.') ? 'signal.*' : next.type)
    }
    return found
  }

  #note(change: ProcessChange, events: readonly StoredEvent[]): Entry {
    const { row } = change
    const { pid } = row.record
    const known = this.processes.get(pid)
    const lease = { holder: known?.row.holder ?? null, fence: known?.row.fence ?? 0 }
    const entry: Entry = known ?? {
      pid,
      row,
      record: row.record,
      events: [],
      leases: [],
      granted: new Map(),
      begun: [],
    }
    let record: ProcessRecord | null = known?.record ?? null
    for (const event of events) {
      record = evolve(record, event)
      entry.events.push(event)
      // A process that is registered held, or claimed and started at once, starts under its new lease.
      entry.leases.push(event.type === 'started' || known === undefined ? row : lease)
    }
    entry.record = record ?? row.record
    entry.row = row
    if (row.holder !== null) entry.granted.set(row.fence, row.holder)
    this.processes.set(pid, entry)
    return entry
  }

  #prune(pid: Pid): void {
    const entry = this.processes.get(pid)
    if (entry === undefined) return
    this.processes.delete(pid)
    this.prunedThrough = Math.max(this.prunedThrough, entry.events.at(-1)?.position ?? 0)
    this.pruned.set(pid, entry)
    this.since.set(pid, this.#stage.now)
  }
}

export function same(a: unknown, b: unknown): boolean {
  if (a === b || JSON.stringify(a) === JSON.stringify(b)) return true
  return canonical(a as Json) === canonical(b as Json)
}

function sameEvent(stored: StoredEvent, event: ProcessEvent): boolean {
  const { position: _position, ...rest } = stored
  return same(rest, { ...event })
}
