import { canonical } from '../../src/core/json/canonical.ts'
import type { Json } from '../../src/core/json/json.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import type { ProcessEvent, StoredEvent } from '../../src/core/process/event.ts'
import { evolve } from '../../src/core/process/evolve.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import type { Change } from '../../src/store/contract.ts'
import type { Observer } from './observer.ts'
import type { Stage } from './stage.ts'

export type ProcessChange = Extract<Change, { type: 'process' }>

/** What is known of one process from what was committed about it. */
export interface Entry {
  readonly pid: Pid
  row: ProcessRow
  /** The simulator's own fold of the events that are in the file. */
  record: ProcessRecord
  readonly events: StoredEvent[]
  /** Under which lease the event of `seq` was committed, at `seq - 1`. */
  readonly leases: Lease[]
  /** To whom each fence was given. */
  readonly granted: Map<number, string>
  /** Which fences were executed, in order. */
  readonly begun: number[]
}

export interface Check {
  /** One change of one process, in the order of commit; `before` is what was known until then. */
  process?(change: ProcessChange, before: Entry | undefined, stored: readonly StoredEvent[]): void
  /** Any other change, in the same order; `now` is the time by the writer's clock. */
  other?(change: Exclude<Change, { type: 'process' }>, now: number): void
  /** After a commit, with the processes that it changed. */
  committed?(touched: readonly Entry[]): void
  /** Everything there is, now and then and at the end. */
  full?(): void
}

/**
 * The truth about the file: what every commit changed, as it happened, read back at once over another connection.
 * Whatever was acknowledged must be here, and whatever is here must be in the file.
 */
export class Ledger {
  readonly processes = new Map<Pid, Entry>()
  readonly pruned = new Map<Pid, Entry>()
  /** Up to here events may be gone. */
  prunedThrough = 0
  /** Every event that ever was, pruned ones too, by position. */
  readonly log: StoredEvent[] = []
  readonly checks: Check[] = []
  /** Who may have used more than it was given: somebody said so after the work. */
  readonly overrunning = new Set<Pid>()
  /** Holders that an operator has removed, and was told so. */
  readonly removed = new Set<string>()
  /** When, by the world's own time, an event was committed (by position) or a process pruned (by pid). */
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

  /** Called right after the database said that it has committed, before anything else can happen. */
  committed(changes: readonly Change[], now: number): void {
    const fresh = [...this.observer.eventsAfter(this.position)]
    const touched = new Set<Entry>()
    for (const change of changes) {
      if (change.type === 'process') {
        const events = this.#match(change, fresh)
        for (const check of this.checks)
          check.process?.(change, this.processes.get(change.row.record.pid), events)
        touched.add(this.#note(change, events))
      } else {
        for (const check of this.checks) check.other?.(change, now)
        if (change.type === 'prune') for (const { pid } of change.tombstones) this.#prune(pid)
      }
    }
    if (fresh.length > 0)
      this.#stage.violated('one write path', `${fresh.length} events are in the file that nobody wrote`)
    const live = [...touched].filter(({ pid }) => this.processes.has(pid))
    for (const check of this.checks) check.committed?.(live)
  }

  checkAll(): void {
    for (const check of this.checks) check.full?.()
  }

  /** Takes this change's events from those that are new in the file. */
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
      // A process that begins held (or is claimed and started at once) begins under its new lease.
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
