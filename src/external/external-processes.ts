import { codeOf } from '../base/error-text.ts'
import type { StoredEvent } from '../core/process/event.ts'
import { knownEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type TrackedProcess, trackedOf, whereIs } from '../core/process/tracked.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { Deliveries, type Delivery, type DeliveryOptions } from './deliveries.ts'
import { liveBoots } from './live-boots.ts'
import {
  isHere,
  isStopped,
  mayBeOfEarlierBoot,
  signalTracked,
  stateOf,
  thisMachine,
  whyNotSignalled,
} from './signal-tracked.ts'

/** How long a tracked process may take to end before a kill forces it, if the kill has no grace of its own. */
export const FORCE_AFTER_MS = 2_000
/** One timer checks all tracked processes. A check reads one file, about 20 µs. */
const LOOK_MS = 250
const MAX_LOOKS = 100
/** How often a stop is retried that another kernel should have delivered, or that the store did not take. */
const RETRY_MS = 2_000
/** How often holders on another boot are looked up. */
const EARLIER_LOOK_MS = 2_000
const PAGE = 500
/** How long a close waits for running work. */
const CLOSE_MS = 1_000

interface Tracked {
  readonly pid: Pid
  readonly tracked: TrackedProcess
  /** When the delivery of a recorded stop is retried. */
  retryAt: number | null
  /** When a delivered kill is forced. */
  forceAt: number | null
  isEnding: boolean
}

/**
 * The external processes that this kernel can reach: those with a PID on this machine, which it signals and whose end it
 * notices, and those of the embedding program, whose callback it calls. A stop is recorded first and then delivered; the
 * delivery is recorded, too, so after a crash the next start delivers the stops that were not delivered.
 */
export class ExternalProcesses {
  readonly #kernel: Kernel
  readonly #options: DeliveryOptions
  readonly #tracked = new Map<Pid, Tracked>()
  /** Processes of another boot: gone, unless a holder lives on that boot. */
  readonly #earlier = new Map<Pid, TrackedProcess>()
  readonly #deliveries: Deliveries
  readonly #working = new Set<Promise<unknown>>()
  #stopHearing: (() => void) | null = null
  #timer: NodeJS.Timeout | null = null
  #earlierLookAt = 0
  #isClosed = false

  constructor(kernel: Kernel, options: DeliveryOptions) {
    this.#kernel = kernel
    this.#options = options
    this.#deliveries = new Deliveries(kernel, options, (pid) => this.recordGone(pid))
  }

  /** Continues from the records: records ends, delivers stops that were not delivered, stops paused processes again. */
  async start(): Promise<void> {
    this.#stopHearing = this.#kernel.feed.onAll((events) => this.#heard(events))
    const { store } = this.#kernel.edges
    let after: number | null = null
    do {
      const page: { items: readonly ProcessRow[]; next: number | null } = await store.ask({
        ask: 'processes',
        filter: { kind: ['external'] },
        after,
        limit: PAGE,
      })
      await Promise.all(page.items.map((row) => this.#resume(row.record)))
      after = page.next
    } while (after !== null)
    await this.#guarded('ending what was tracked on an earlier boot', () => this.#endEarlier())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopHearing?.()
    this.#stopTimer()
    // A callback of the program may never return.
    const late = Promise.withResolvers<void>()
    const cancel = this.#kernel.edges.clock.after(CLOSE_MS, late.resolve)
    await Promise.race([Promise.allSettled([...this.#working]), late.promise])
    cancel()
  }

  /** Delivers the recorded stop, unless it has been delivered. */
  deliver(pid: Pid): Promise<Delivery> {
    return this.#deliveries.deliver(pid)
  }

  /** Whether a callback of the program runs for this process. */
  isCalling(pid: Pid): boolean {
    return this.#deliveries.isCalling(pid)
  }

  /** Stops the OS process of a tracked process (SIGSTOP), or lets it continue (SIGCONT). With null, it only checks. */
  signal(record: ProcessRecord, signal: 'SIGSTOP' | 'SIGCONT' | null): Delivery {
    const tracked = trackedOf(record)
    if (tracked === null || !isHere(tracked)) return { type: 'elsewhere' }
    const result = signal === null ? (whyNotSignalled(tracked) ?? 'sent') : signalTracked(tracked, signal)
    if (result === 'sent') return { type: 'delivered' }
    return { type: result === 'gone' || result === 'stranger' ? 'ended' : 'forbidden' }
  }

  /** Records the end of a process whose OS process is gone. */
  async recordGone(pid: Pid): Promise<void> {
    const { edges } = this.#kernel
    const row = await edges.store.ask({ ask: 'process', pid })
    this.#forget(pid)
    if (row === null || hasEnded(row.record)) return
    await this.#kernel
      .perform({
        type: 'abandon',
        pid,
        actor: `kernel:${this.#kernel.id}`,
        at: edges.clock.now(),
        observed: { holder: row.holder, fence: row.fence },
        evidence: 'process_gone',
      })
      .catch((error: unknown) => {
        if (codeOf(error) !== 'already_ended') throw error
      })
  }

  /** Most events are of other kinds of processes. */
  #heard(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const known = knownEvent(event)
      if (known?.type === 'registered') {
        if (known.payload.kind === 'external') this.#track(known.payload)
      } else if (this.#earlier.has(event.pid) || this.#mayReach(event.pid)) this.#react(event)
    }
  }

  #react({ type, pid }: StoredEvent): void {
    if (type === 'ended') this.#forget(pid)
    else if (type === 'stop_requested' && this.#mayReach(pid)) this.#deliverLater(pid)
    else if (type === 'stop_delivered' && this.#tracked.has(pid))
      this.#inBackground(`forcing ${pid}`, () => this.#scheduleForce(pid))
  }

  #mayReach(pid: Pid): boolean {
    return this.#tracked.has(pid) || this.#options.onStop !== undefined
  }

  #deliverLater(pid: Pid): void {
    const entry = this.#tracked.get(pid)
    if (entry !== undefined) entry.retryAt = this.#now() + RETRY_MS
    this.#inBackground(`stopping ${pid}`, async () => {
      const { type } = await this.deliver(pid)
      // A signal that is forbidden now stays forbidden: the next start tries again.
      if (entry !== undefined && type !== 'elsewhere') entry.retryAt = null
    })
  }

  /** Continues with a process that was registered before this kernel started. */
  async #resume(record: ProcessRecord): Promise<void> {
    if (hasEnded(record)) return
    const entry = this.#track(record)
    const { pid, status, stopRequest } = record
    const tracked = trackedOf(record)
    if (tracked !== null && mayBeOfEarlierBoot(tracked)) this.#watchEarlier(pid, tracked)
    if (entry !== undefined && stateOf(entry.tracked) === 'gone') {
      await this.#guarded(`ending ${pid}`, () => this.recordGone(pid))
      return
    }
    if (stopRequest?.deliveredAt !== undefined) this.#force(record)
    else if (stopRequest !== null && this.#mayReach(pid)) this.#deliverLater(pid)
    // A crash came between the record and the signal.
    if (entry !== undefined && status === 'paused' && !isStopped(entry.tracked))
      this.signal(record, 'SIGSTOP')
  }

  #track(record: Pick<ProcessRecord, 'pid' | 'kind' | 'spec'>): Tracked | undefined {
    const { pid } = record
    const tracked = trackedOf(record)
    if (tracked === null || this.#isClosed || !isHere(tracked)) return undefined
    const entry = this.#tracked.get(pid) ?? { pid, tracked, retryAt: null, forceAt: null, isEnding: false }
    this.#tracked.set(pid, entry)
    this.#startTimer()
    return entry
  }

  #forget(pid: Pid): void {
    this.#tracked.delete(pid)
    this.#earlier.delete(pid)
    this.#deliveries.forget(pid)
    if (this.#tracked.size + this.#earlier.size === 0) this.#stopTimer()
  }

  /** Only for processes from before the start: a later one with another boot id runs on another machine. */
  #watchEarlier(pid: Pid, tracked: TrackedProcess): void {
    this.#earlier.set(pid, tracked)
    this.#startTimer()
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Checks a limited number per round, in turn: a checked process goes to the end of the queue. */
  #look(): void {
    const now = this.#now()
    for (const entry of [...this.#tracked.values()].slice(0, MAX_LOOKS)) {
      const { pid, tracked } = entry
      this.#tracked.delete(pid)
      this.#tracked.set(pid, entry)
      const state = stateOf(tracked)
      if (state === 'gone') this.#recordGoneLater(entry)
      if (state !== 'running') continue
      if (entry.retryAt !== null && entry.retryAt <= now) this.#deliverLater(pid)
      if (entry.forceAt === null || entry.forceAt > now) continue
      entry.forceAt = null
      signalTracked(tracked, 'SIGKILL')
    }
    if (this.#earlier.size === 0 || this.#earlierLookAt > now) return
    this.#earlierLookAt = now + EARLIER_LOOK_MS
    this.#inBackground('ending what was tracked on an earlier boot', () => this.#endEarlier())
  }

  /** The row of a holder that died with an earlier boot counts as live until it expires. */
  async #endEarlier(): Promise<void> {
    if (this.#earlier.size === 0) return
    const boots = await liveBoots(this.#kernel.edges)
    for (const [pid, tracked] of [...this.#earlier]) {
      if (whereIs(tracked, thisMachine(), boots) !== 'earlier_boot') continue
      try {
        await this.recordGone(pid)
      } catch (error) {
        // The store did not take it: the next look tries again.
        this.#watchEarlier(pid, tracked)
        throw error
      }
    }
  }

  #recordGoneLater(entry: Tracked): void {
    if (entry.isEnding) return
    entry.isEnding = true
    this.#inBackground(`ending ${entry.pid}`, async () => {
      try {
        await this.recordGone(entry.pid)
      } catch (error) {
        // The store did not take it: the next look tries again.
        entry.isEnding = false
        this.#track({ pid: entry.pid, kind: 'external', spec: { process: { ...entry.tracked } } })
        throw error
      }
    })
  }

  async #scheduleForce(pid: Pid): Promise<void> {
    const row = await this.#kernel.edges.store.ask({ ask: 'process', pid })
    if (row !== null) this.#force(row.record)
  }

  /** The grace counts from the delivery, even if that was delayed. With 0 the process is never forced. */
  #force({ pid, stopRequest }: ProcessRecord): void {
    const entry = this.#tracked.get(pid)
    if (entry === undefined || stopRequest?.how !== 'kill' || stopRequest.deliveredAt === undefined) return
    const { deliveredAt, graceMs = FORCE_AFTER_MS } = stopRequest
    entry.forceAt = graceMs === 0 ? null : deliveredAt + graceMs
  }

  #inBackground(doing: string, task: () => Promise<unknown>): void {
    if (this.#isClosed) return
    const working = this.#guarded(doing, task)
    this.#working.add(working)
    void working.then(() => this.#working.delete(working))
  }

  async #guarded(doing: string, task: () => Promise<unknown>): Promise<void> {
    try {
      await task()
    } catch (error) {
      if (!this.#isClosed) this.#options.onTrouble(error, doing)
    }
  }

  #now(): number {
    return this.#kernel.edges.clock.now()
  }
}
