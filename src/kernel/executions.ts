import type { JsonObject } from '../core/json/json.ts'
import type { Served } from '../core/lease/holder.ts'
import type { Placement } from '../core/placement/placement.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Kind, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { Adoption } from './adoption.ts'
import { Attempt } from './attempt.ts'
import { AttemptRuns } from './attempt-runs.ts'
import { AttemptStops } from './attempt-stops.ts'
import { reclaim } from './claim.ts'
import type { Edges } from './edges.ts'
import type { Executor, Keeping, StopRequest } from './executor.ts'
import { FeedReactions } from './feed-reactions.ts'
import { HandBack } from './hand-back.ts'
import type { Kernel } from './kernel.ts'
import { RunningAttempts } from './running-attempts.ts'
import { ServedProcesses } from './served-processes.ts'
import { SettledElsewhere } from './settled-elsewhere.ts'
import { WorkClaims } from './work-claims.ts'

const TAKEN_OVER = 'Another kernel has taken it over.'

interface ExecutionOptions {
  /** How many processes may run at once, those that wait not counted; it may change. */
  readonly most: () => number
  /** Where this kernel is. */
  readonly here: readonly Placement[]
  /** False while the kernel's own row may have lapsed: other kernels could then take over any process that it claims. */
  readonly mayClaim: () => boolean
}

/**
 * The processes that one holder executes. This class begins them; `FeedReactions` says how they react to events.
 *
 * Three things differ for processes that a keeper holds: a starting kernel goes on with them, a closing kernel leaves
 * them there, and a kill is settled by their executor.
 */
export class Executions {
  readonly #edges: Edges
  readonly #kernel: Kernel
  #holder: string
  readonly #served: ServedProcesses
  readonly #running: RunningAttempts
  readonly #claims: WorkClaims
  readonly #runs: AttemptRuns
  readonly #stops: AttemptStops
  readonly #adoption: Adoption
  readonly #handBack: HandBack
  readonly #settledElsewhere: SettledElsewhere
  readonly #reactions: FeedReactions
  #isClosed = false
  /** Granted when this kernel was already closing: handed back before they begin. */
  readonly #late: Attempt[] = []

  constructor(
    edges: Edges,
    kernel: Kernel,
    holder: string,
    executors: readonly Executor[],
    { most, here, mayClaim }: ExecutionOptions,
  ) {
    this.#edges = edges
    this.#kernel = kernel
    this.#holder = holder
    const served = new ServedProcesses(executors, here)
    const running = new RunningAttempts(
      (attempt) => {
        this.#stops.forget(attempt)
        this.#claims.lookIfSlotsWereFull()
      },
      () => this.#claims.lookIfSlotsWereFull(),
    )
    const holderNow = () => this.#holder
    this.#served = served
    this.#running = running
    this.#claims = new WorkClaims(edges, kernel, {
      served,
      holder: holderNow,
      most,
      usedSlots: () => running.usedSlots,
      mayClaim,
      begin: (row) => this.begin(row),
      onReturned: () => this.#stops.forgetEarly(),
    })
    this.#runs = new AttemptRuns(edges, kernel, {
      served,
      running,
      holder: holderNow,
      isClosed: () => this.#isClosed,
      look: () => this.#claims.look(),
    })
    this.#stops = new AttemptStops(edges, {
      served,
      running,
      mayBeGranted: () => this.#claims.isPending,
      end: (attempt) => this.#runs.endKilled(attempt),
      giveUp: (attempt) => this.#runs.giveUpStop(attempt),
    })
    this.#adoption = new Adoption(edges, kernel, {
      holder: holderNow,
      running: (pid) => running.get(pid),
      begin: (row) => this.begin(row),
      stop: (attempt, stop) => this.#stops.stop(attempt, stop),
    })
    this.#handBack = new HandBack(edges, {
      running,
      holder: holderNow,
      isKept: served.keeping !== undefined,
      stop: (attempt, stop) => this.#stops.stop(attempt, stop),
      forgetStop: (attempt) => this.#stops.forget(attempt),
    })
    this.#settledElsewhere = new SettledElsewhere(edges, {
      running,
      self: () => kernel.id,
      holder: holderNow,
    })
    this.#reactions = new FeedReactions({
      served,
      running,
      claims: this.#claims,
      stops: this.#stops,
      settledElsewhere: this.#settledElsewhere,
    })
  }

  get serves(): readonly Served[] {
    return this.#served.serves
  }

  get pids(): readonly Pid[] {
    return this.#running.pids
  }

  get holder(): string {
    return this.#holder
  }

  /** Set if a keeper holds the processes. */
  get keeping(): Keeping | undefined {
    return this.#served.keeping
  }

  /** Takes a free slot for a process that is about to be registered, if it can begin here at once. */
  reserve(kind: Kind, spec: JsonObject): 'reserved' | 'full' | 'not_here' {
    return this.#claims.reserve(kind, spec)
  }

  /** Frees a reserved slot. `holder`: as it was when the slot was taken. */
  free(holder?: string): void {
    this.#claims.free(holder)
  }

  /** Executes a process whose lease this holder has just been granted. */
  begin(row: ProcessRow): void {
    const { record } = row
    // The lease was granted to a keeper that died since, and its successor takes it over (`holdBy`); or to this kernel
    // before its row was removed, and other kernels recover the process.
    if (row.holder !== this.#holder) return
    const executor = this.#served.runnerOf(record)
    if (executor === undefined) return
    const attempt = new Attempt(record, this.#holder, row.fence)
    if (this.#isClosed) {
      this.#late.push(attempt)
      return
    }
    const former = this.#running.get(record.pid)
    if (former !== undefined && former.fenceNumber >= row.fence) return
    // The lease went elsewhere and came back before the former attempt noticed.
    if (former !== undefined) this.#running.lose(former, TAKEN_OVER)
    this.#running.add(attempt)
    if (this.keeping === undefined) this.#kernel.limitRun(record)
    this.#runs
      .run(executor, attempt)
      .catch((error: unknown) => this.#edges.onTrouble(error, `executing ${record.pid}`))
    this.#stops.deliverEarly(record.pid)
  }

  /** Goes on with everything that the keeper holds, and that its dead predecessors held. */
  adoptKept(predecessors: readonly string[], before?: (record: ProcessRecord) => void): Promise<Pid[]> {
    return this.#adoption.kept(predecessors, before)
  }

  /** The keeper died, and another one has its programs. Safe to call again after a failure. */
  async holdBy(holder: string, former: string): Promise<void> {
    this.#holder = holder
    await this.adoptKept([former])
    // Grants to the dead keeper that were under way are found only by a second look.
    await this.#claims.grantsEnded(former)
    await this.adoptKept([former])
    this.look()
  }

  /** Another holder has all attempts from now on. */
  letGo(): void {
    for (const attempt of this.#running.all) this.#running.lose(attempt, TAKEN_OVER)
  }

  /** The kernel's row was removed, and it goes on under another id: other kernels have settled its processes. */
  holdAs(holder: string): void {
    this.letGo()
    this.#holder = holder
  }

  /** The keeper's row was removed: ends the programs of processes that other kernels have settled since. */
  endSettled(): Promise<void> {
    return this.#settledElsewhere.killEnded()
  }

  /** Remembers the error of a claiming write, if the claim may have been committed. */
  doubt(error: unknown): void {
    this.#claims.doubt(error)
  }

  /** Begins processes that this holder holds without knowing: the outcome of their claim was unknown. */
  async adopt(): Promise<Pid[]> {
    const before = new Set(this.pids)
    await this.#claims.adoptUnknown(() => this.#adoption.granted())
    return this.pids.filter((pid) => !before.has(pid))
  }

  /** Handles events of the feed. */
  heard(events: readonly StoredEvent[]): void {
    this.#reactions.heard(events)
  }

  /** Looks for work, now or right after the look that is under way. */
  look(): void {
    this.#claims.look()
  }

  /** The served functions have changed, so the next due process may be another one. */
  lookAndReschedule(): void {
    this.#claims.lookAndReschedule()
  }

  /** After this kernel's row had lapsed: reclaims the leases that are still its own, and gives up the rest. */
  async reclaim(): Promise<void> {
    // A keeper's leases do not depend on a kernel's row.
    if (this.keeping !== undefined) return
    for (const attempt of this.#running.all) {
      if (attempt.over) continue
      const { pid, attempts } = attempt.record
      const fence = await reclaim(this.#edges, pid, this.#holder, attempts)
      if (fence === null) this.#running.lose(attempt, TAKEN_OVER)
      else attempt.fenceNumber = Math.max(attempt.fenceNumber, fence)
    }
  }

  /** Hands everything back. `keep`: also processes whose lifetime is the daemon's stay with their keeper. */
  async drain(keep: boolean): Promise<void> {
    this.#isClosed = true
    this.#claims.close()
    if (!keep) await this.endWithDaemon()
    await this.#served.drain()
    for (const attempt of this.#running.all) await this.#handBack.handBack(attempt)
    // Claims and registrations that are under way may still be granted something.
    await this.#claims.settled()
    for (const attempt of this.#late) await this.#handBack.handBack(attempt)
  }

  /** Ends the kept processes whose lifetime is the daemon's. Answers with their pids. */
  endWithDaemon(): Promise<Pid[]> {
    return this.#handBack.endWithDaemon()
  }

  /** Stops a program that a keeper holds, without a write. False: it is not held here. */
  askToStop(pid: Pid, stop: Omit<StopRequest, 'type'>): boolean {
    return this.#stops.askKept(pid, stop)
  }
}
