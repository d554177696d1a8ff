import { ReeveError, StoreError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import { isServed, type Served } from '../core/lease/holder.ts'
import type { Fence } from '../core/lease/lease.ts'
import { isPlacedAt, type Placement } from '../core/placement/placement.ts'
import type { ReservedEvent, StoredEvent } from '../core/process/event.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import {
  hasEnded,
  type Kind,
  type ProcessRecord,
  type Registration,
  targetOf,
} from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { Adoption } from './adoption.ts'
import { Attempt, Stopped } from './attempt.ts'
import { claimAnnounced, reclaim } from './claim.ts'
import type { Edges } from './edges.ts'
import { endIntent, endingOfThrown, isStale } from './end-intent.ts'
import type { Executor, Keeping, Left, Lost, Parked, StopRequest } from './executor.ts'
import { GrantsUnderWay } from './grants-under-way.ts'
import type { Kernel } from './kernel.ts'
import { type Looked, Lookout } from './lookout.ts'
import { type Performed, perform } from './perform.ts'
import { performAs } from './perform-as.ts'
import { Slots } from './slots.ts'
import { StopGraces } from './stop-graces.ts'

const CLAIM_PAGE = 200
const RETRY_MS = 200
const RETRY_MAX_MS = 5_000
/** How long a close waits for what ends with it. What takes longer is told to stop, and found by the next kernel. */
const DRAIN_MS = 15_000

interface ExecutionOptions {
  /** How many at once; it may change. */
  readonly most: () => number
  /** Where this kernel is. */
  readonly here: readonly Placement[]
  readonly mayClaim: () => boolean
}

/**
 * The processes that this kernel executes: it claims what is due and served, up to `most`, runs it, and
 * writes its end.
 *
 * | event of the feed                    | what is done                          |
 * | registered, put back, resumed …      | looks for work, if it serves the kind |
 * | a wait left, of one not executed here | looks for work: it may have been parked |
 * | parked                               | looks for work when it is due          |
 * | stop requested, of one executed here | aborts it; a kill ends it at once; one that ignores it is given up after a grace |
 * | paused, resumed, of one executed here | tells it                              |
 * | ended by another kernel, of a keeper's | ends its program                      |
 *
 * Where a keeper holds them, three things differ: they are found again at the start, left alone at the end, and ended
 * by their executor even when they are killed.
 */
export class Executions {
  readonly #edges: Edges
  #holder: string
  readonly #executors: readonly Executor[]
  /** Of the one executor whose processes somebody else holds. */
  readonly #keeping: Keeping | undefined
  /** Where this kernel is. */
  readonly #here: readonly Placement[]
  /** A kernel whose own row may have lapsed claims nothing: others are free to take what it takes. */
  readonly #mayClaim: () => boolean
  readonly #kernel: Kernel
  readonly #lookout: Lookout
  readonly #adoption: Adoption
  readonly #graces: StopGraces
  readonly #running = new Map<Pid, Attempt>()
  /** Those that are to end with the daemon, and have been told. */
  readonly #askedToEnd = new WeakSet<Attempt>()
  /** Those whose end others have written, and whose programs have been ended. */
  readonly #programsEnded = new WeakSet<Attempt>()
  readonly #slots: Slots
  readonly #grants = new GrantsUnderWay()
  /** Stops that were heard before the claim or registration they concern had come back from the store. */
  readonly #earlyStops = new Map<Pid, StoredEvent>()
  /** A claim may have succeeded without word of it. */
  #unsure = false
  #closed = false
  /** Granted when this kernel was already closing: handed back unbegun. */
  readonly #late: Attempt[] = []
  #whenSettled: (() => void) | undefined

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
    this.#executors = executors
    this.#keeping = executors[0]?.keeping
    this.#slots = new Slots(most, () => this.#running.size)
    this.#here = here
    this.#mayClaim = mayClaim
    this.#graces = new StopGraces({
      clock: edges.clock,
      giveUp: (attempt) => this.#giveUpStop(attempt),
      failed: (error, { record }) => edges.onTrouble(error, `stopping ${record.pid}`),
    })
    this.#adoption = new Adoption(edges, kernel, {
      holder: () => this.#holder,
      running: (pid) => this.#running.get(pid),
      begin: (row) => this.begin(row),
      stop: (attempt, stop) => this.#stop(attempt, stop),
    })
    this.#lookout = new Lookout(edges.clock, {
      isIdle: () => !this.#closed && executors.length > 0 && this.#slots.free() > 0,
      claim: () => this.#claim(),
      looked: () => {
        this.#forgetEarlyStops()
        this.#settled()
      },
      failed: (error) => {
        this.doubt(error)
        if (!this.#closed) edges.onTrouble(error, 'claiming')
      },
    })
  }

  get serves(): readonly Served[] {
    return this.#executors.flatMap((executor) => executor.serves)
  }

  get pids(): readonly Pid[] {
    return [...this.#running.keys()]
  }

  get holder(): string {
    return this.#holder
  }

  get keeping(): Keeping | undefined {
    return this.#keeping
  }

  /** Takes a free slot for a process of this kind that is about to be registered, if it can be begun here at once. */
  reserve(kind: Kind, spec: JsonObject): 'reserved' | 'full' | 'not_here' {
    if (this.#executorOf(kind, spec) === undefined) return 'not_here'
    if (this.#slots.free() <= 0) return 'full'
    if (this.#closed || !this.#mayClaim()) return 'not_here'
    this.#slots.reserved += 1
    this.#grants.begin(this.#holder)
    return 'reserved'
  }

  /** `holder` as it was when the slot was taken. */
  free(holder = this.#holder): void {
    this.#grants.end(holder)
    this.#slots.reserved -= 1
    if (this.#slots.hadTooFew()) this.look()
    this.#forgetEarlyStops()
    this.#settled()
  }

  /** Executes a process whose lease this kernel has just been granted. */
  begin(row: ProcessRow): void {
    const { record } = row
    // Granted to a keeper that died meanwhile: its successor takes it over, see `holdBy`. Or to this kernel before it was
    // removed: others recover it.
    if (row.holder !== this.#holder) return
    const executor = this.#runnerOf(record)
    if (executor === undefined) return
    const attempt = new Attempt(record, this.#holder, row.fence)
    if (this.#closed) {
      this.#late.push(attempt)
      return
    }
    const former = this.#running.get(record.pid)
    if (former !== undefined && former.fenceNumber >= row.fence) return
    // The lease went elsewhere and came back, and the former attempt has not noticed.
    if (former !== undefined) this.#lose(former)
    this.#running.set(record.pid, attempt)
    if (this.#keeping === undefined) this.#kernel.limitRun(record)
    this.#run(executor, attempt).catch((error: unknown) =>
      this.#edges.onTrouble(error, `executing ${record.pid}`),
    )
    const early = this.#earlyStops.get(record.pid)
    if (early !== undefined) this.#stopRequested(early)
  }

  /** Goes on with all that the keeper holds, and all that its dead forerunners held. */
  adoptKept(forerunners: readonly string[], before?: (record: ProcessRecord) => void): Promise<Pid[]> {
    return this.#adoption.kept(forerunners, before)
  }

  /** The keeper died, and another one has its programs. May be called again if it was cut short. */
  async holdBy(holder: string, former: string): Promise<void> {
    this.#holder = holder
    await this.adoptKept([former])
    // What was being granted to the dead one is found by nobody else.
    await this.#grants.ended(former)
    await this.adoptKept([former])
    this.look()
  }

  /** Others have them from now on. */
  letGo(): void {
    for (const attempt of [...this.#running.values()]) this.#lose(attempt)
  }

  /** The kernel was removed, and has another id: what it held others have settled. */
  holdAs(holder: string): void {
    this.letGo()
    this.#holder = holder
  }

  /** The keeper was removed: the programs of what others have settled meanwhile are ended. */
  async endSettled(): Promise<void> {
    for (const attempt of [...this.#running.values()]) {
      const row = await this.#edges.store.ask({ ask: 'process', pid: attempt.record.pid })
      if (row === null || hasEnded(row.record)) this.#endProgram(attempt)
    }
  }

  /** Another kernel has settled what the keeper still runs. */
  #endedElsewhere({ pid, actor }: StoredEvent): void {
    const attempt = this.#keeping === undefined ? undefined : this.#running.get(pid)
    if (attempt === undefined || attempt.over || !actor.startsWith('kernel:')) return
    // Ends that are seen here are written in the name of the keeper.
    if (actor !== `kernel:${attempt.holder}` && actor !== `kernel:${this.#holder}`) this.#endProgram(attempt)
  }

  #endProgram(attempt: Attempt): void {
    if (this.#programsEnded.has(attempt)) return
    this.#programsEnded.add(attempt)
    const source = `kernel:${this.#kernel.id}` as const
    attempt.request({ type: 'stop', how: 'kill', reason: 'its keeper was removed', source, graceMs: 1 })
  }

  /** An error of a write that claims: remembered, if the claim may have been committed all the same. */
  doubt(error: unknown): void {
    if (error instanceof ReeveError && error.code === 'outcome_unknown') this.#unsure = true
  }

  /** Begins what this kernel holds without knowing it: what a claim took whose outcome was not known. */
  async adopt(): Promise<Pid[]> {
    const before = new Set(this.#running.keys())
    if (!this.#unsure || this.#closed) return []
    this.#unsure = false
    this.#slots.reserved += 1
    const holder = this.#holder
    this.#grants.begin(holder)
    try {
      await this.#adoption.granted()
    } catch (error) {
      this.#unsure = true
      throw error
    } finally {
      this.free(holder)
    }
    return this.pids.filter((pid) => !before.has(pid))
  }

  /** Hears the feed. */
  heard(events: readonly StoredEvent[]): void {
    const waiting = new Set<Pid>()
    for (const event of events) {
      switch (event.type) {
        case 'registered':
          if (this.#wouldServe(event)) waiting.add(event.pid)
          break
        case 'wait_left':
          if (this.#servesWorkflows && !this.#running.has(event.pid)) waiting.add(event.pid)
          break
        case 'parked':
          this.#parked(event)
          break
        case 'holder_lost':
        case 'released':
          waiting.add(event.pid)
          break
        case 'resumed':
          this.#running.get(event.pid)?.request({ type: 'resume' })
          waiting.add(event.pid)
          break
        case 'started':
          waiting.delete(event.pid)
          break
        case 'stop_requested':
          this.#stopRequested(event)
          break
        case 'ended':
          this.#endedElsewhere(event)
          break
        case 'paused':
          this.#running.get(event.pid)?.request({ type: 'pause' })
          break
      }
    }
    if (waiting.size > 0) this.look()
  }

  #parked(event: StoredEvent): void {
    const { until } = event.payload as unknown as Extract<ReservedEvent, { type: 'parked' }>['payload']
    if (until !== null && this.#servesWorkflows) this.#lookout.lookAt(until)
  }

  get #servesWorkflows(): boolean {
    return this.#executors.some(({ serves }) => serves.some(({ kind }) => kind === 'workflow'))
  }

  /** Looks for work, now or right after the look that is under way. */
  look(): void {
    this.#lookout.look()
  }

  /** What is served has changed, and so what is due. */
  lookAnew(): void {
    this.#lookout.lookAnew()
  }

  /** After this kernel's row had lapsed: takes again what is still its own, and gives up the rest. */
  async reclaim(): Promise<void> {
    // A keeper's leases do not depend on a kernel's row.
    if (this.#keeping !== undefined) return
    for (const attempt of [...this.#running.values()]) {
      if (attempt.over) continue
      const { pid, attempts } = attempt.record
      const fence = await reclaim(this.#edges, pid, this.#holder, attempts)
      if (fence === null) this.#lose(attempt)
      else attempt.fenceNumber = Math.max(attempt.fenceNumber, fence)
    }
  }

  /** Hands everything back in order: what can move goes back in line, what cannot ends as `holder_drain`. */
  async drain(keep: boolean): Promise<void> {
    this.#closed = true
    this.#lookout.stop()
    if (!keep) await this.endWithDaemon()
    await Promise.all(this.#executors.map((executor) => executor.drain?.()))
    for (const attempt of [...this.#running.values()]) await this.#handBack(attempt)
    // Claims and registrations that were under way may still be granted something.
    await new Promise<void>((resolve) => {
      this.#whenSettled = resolve
      this.#settled()
    })
    for (const attempt of this.#late) await this.#handBack(attempt)
  }

  /** What lives as long as the daemon ends with it, in order; the rest stays with its keeper. Answers with which these were. */
  async endWithDaemon(): Promise<Pid[]> {
    if (this.#keeping === undefined) return []
    const ending = [...this.#running.values()].filter(
      (attempt) => attempt.record.lifetime === 'daemon' && !this.#askedToEnd.has(attempt),
    )
    for (const attempt of ending) this.#askedToEnd.add(attempt)
    await Promise.all(
      ending.map(async (attempt) => {
        await this.#stopWithDaemon(attempt)
        await this.#endedWithin(attempt, DRAIN_MS)
        if (attempt.over || attempt.isUnrecorded) return
        const still = new Error(`${attempt.record.pid} still runs, though it was to end with the daemon.`)
        this.#edges.onTrouble(still, 'closing')
      }),
    )
    return ending.map(({ record }) => record.pid)
  }

  /** Where the store cannot take it, the executor is asked all the same, and the next kernel records the end. */
  async #stopWithDaemon(attempt: Attempt): Promise<void> {
    const asked = this.#asked(attempt)
    const stop = { how: 'cancel', reason: 'lifetime: the daemon is shutting down' } as const
    const replayKey = `drain:${attempt.fenceNumber}`
    try {
      await perform(this.#edges, { type: 'stop', ...asked, ...stop, cause: null, replayKey })
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.#stop(attempt, { ...stop, source: asked.actor, at: asked.at })
    }
  }

  async #handBack(attempt: Attempt): Promise<void> {
    if (attempt.over) return
    attempt.over = true
    this.#graces.forget(attempt)
    attempt.stop(new Stopped('shutdown', 'The kernel is shutting down.'))
    if (this.#keeping !== undefined) {
      this.#running.delete(attempt.record.pid)
      return
    }
    await perform(this.#edges, { type: 'release', ...this.#asked(attempt), fence: attempt.fence() })
    this.#running.delete(attempt.record.pid)
  }

  #settled(): void {
    if (!this.#lookout.isLooking && this.#slots.reserved === 0) this.#whenSettled?.()
  }

  async #claim(): Promise<Looked> {
    const { store, clock } = this.#edges
    // What ended in the same commit is forgotten first, so that one claim refills all of it. A lease that may have lapsed is
    // renewed before: a clock that jumped ahead must not delay work until the next renewal.
    await (this.#closed ? undefined : this.#kernel.sure())
    const free = Math.min(CLAIM_PAGE, this.#slots.free())
    const { serves } = this
    if (serves.length === 0) return 'none'
    if (free <= 0) return 'some'
    const at = clock.now()
    const here = this.#here
    const pids = await store.ask({ ask: 'claimable', serves, here, at, limit: free })
    if (this.#closed || !this.#mayClaim()) return 'none'
    if (pids.length === 0) {
      const due = await store.ask({ ask: 'nextDue', serves, here, at })
      if (due !== null) this.#lookout.lookAt(due)
      return 'none'
    }
    const holder = this.#holder
    this.#grants.begin(holder)
    try {
      const claimed = await claimAnnounced(this.#edges, pids, { holder, here })
      if (claimed === 'unannounced') {
        this.#removed()
        return 'none'
      }
      for (const row of claimed) this.begin(row)
    } finally {
      this.#grants.end(holder)
    }
    return pids.length === free ? 'more' : 'some'
  }

  /** The kernel announces itself again, and looks for work then. */
  #removed(): void {
    this.#kernel.renew().catch((error: unknown) => this.#edges.onTrouble(error, 'renewing'))
  }

  async #run(executor: Executor, attempt: Attempt): Promise<void> {
    const ending = await this.#endingOf(executor, attempt)
    if (ending?.status === 'parked') this.#forget(attempt)
    else if (ending?.status === 'left') await this.#putBack(attempt)
    else if (ending !== undefined) await this.#end(attempt, ending, `end:${attempt.fenceNumber}`)
  }

  /** Undefined if its end is not to be written here. */
  async #endingOf(executor: Executor, attempt: Attempt): Promise<Ending | Lost | Parked | Left | undefined> {
    for (let delay = RETRY_MS; ; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      try {
        return await executor.run(attempt, this.#kernel)
      } catch (error) {
        if (this.#keeping === undefined) return endingOfThrown(attempt, error)
        if (attempt.over) return undefined
        // What a keeper holds may be running, whatever went wrong here: that is no outcome of it.
        this.#edges.onTrouble(error, `executing ${attempt.record.pid}`)
      }
      await this.#after(delay)
      if (attempt.over || (await this.#isElsewhere(attempt))) return undefined
    }
  }

  /** Gives its lease back, unless that is another's by now. */
  async #putBack(attempt: Attempt): Promise<void> {
    for (let delay = RETRY_MS; !attempt.over; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      try {
        const fence = attempt.fence()
        await perform(this.#edges, { type: 'release', ...this.#asked(attempt), fence })
        if (await this.#hasNewFence(attempt, fence)) continue
        return this.#forget(attempt)
      } catch (error) {
        if (this.#closed || !(error instanceof ReeveError)) throw error
        this.#edges.onTrouble(error, `putting ${attempt.record.pid} back`)
      }
      await this.#after(delay)
    }
  }

  /** Its end has been written, or its lease is another's: then it is forgotten here. */
  async #isElsewhere(attempt: Attempt): Promise<boolean> {
    const { pid } = attempt.record
    try {
      const row = await this.#edges.store.ask({ ask: 'process', pid })
      if (row !== null && !hasEnded(row.record) && row.holder === this.#holder) return false
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      return false
    }
    this.#forget(attempt)
    this.#runnerOf(attempt.record)?.settled?.(pid)
    return true
  }

  /** Writes the end once; a store that is away is tried again until it is back, or the lease is somebody else's. */
  async #end(attempt: Attempt, asked: Ending | Lost, replayKey: string): Promise<void> {
    let ending = asked
    for (let delay = RETRY_MS; !attempt.over; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      try {
        const fence = attempt.fence()
        const performed = await perform(
          this.#edges,
          endIntent(this.#asked(attempt), ending, fence, replayKey),
        )
        if (performed.type === 'refused' && performed.refusal.code === 'payload_too_large') {
          ending = { status: 'failed', reason: performed.refusal.message }
          continue
        }
        if (isStale(performed) && (await this.#hasNewFence(attempt, fence))) continue
        return this.#ended(attempt, performed)
      } catch (error) {
        if (this.#closed || !(error instanceof ReeveError)) throw error
        this.#edges.onTrouble(error, `ending ${attempt.record.pid}`)
        attempt.isUnrecorded = true
        attempt.settled()
      }
      await this.#after(delay)
    }
  }

  async #giveUpStop(attempt: Attempt): Promise<'done' | 'not_yet'> {
    try {
      const fence = attempt.fence()
      const performed = await performAs(this.#edges, attempt, { type: 'give_up_stop' })
      if (performed.type === 'refused' && performed.refusal.code === 'stopping') return 'not_yet'
      if (isStale(performed) && (await this.#hasNewFence(attempt, fence))) return 'not_yet'
      if (!attempt.over) this.#ended(attempt, performed)
      return 'done'
    } catch (error) {
      if (this.#closed || !(error instanceof ReeveError)) throw error
      this.#edges.onTrouble(error, `stopping ${attempt.record.pid}`)
      return 'not_yet'
    }
  }

  /** Its end was written, or is not to be written here. */
  #ended(attempt: Attempt, performed: Performed): void {
    this.#forget(attempt)
    this.#runnerOf(attempt.record)?.settled?.(attempt.record.pid)
    if (performed.type === 'appended') this.#kernel.carryOn(performed.row)
    else if (performed.type === 'refused')
      this.#unwritten(attempt, performed.refusal.code, performed.refusal.message)
  }

  /** This kernel's row lapsed while the end was being written, and its lease was taken again: the new fence counts. */
  async #hasNewFence(attempt: Attempt, stale: Fence): Promise<boolean> {
    const row = await this.#edges.store.ask({ ask: 'process', pid: attempt.record.pid })
    if (row?.holder !== this.#holder || row.fence <= stale.fence) return false
    // Lost, and claimed anew: then the lease is another attempt's.
    if (row.record.attempts !== attempt.record.attempts) return false
    attempt.fenceNumber = row.fence
    return true
  }

  /** A refused end is expected when the lease went elsewhere; a result that cannot be stored is a failure of its own. */
  #unwritten(attempt: Attempt, code: string, message: string): void {
    if (code === 'stale_fence' || code === 'already_ended') return
    this.#edges.onTrouble(new Error(message), `ending ${attempt.record.pid}`)
  }

  #stopRequested(event: StoredEvent): void {
    const attempt = this.#running.get(event.pid)
    if (attempt === undefined && (this.#slots.reserved > 0 || this.#lookout.isLooking))
      this.#earlyStops.set(event.pid, event)
    if (attempt === undefined || attempt.over) return
    const stop = event.payload as unknown as Extract<ReservedEvent, { type: 'stop_requested' }>['payload']
    this.#stop(attempt, { ...stop, at: event.at })
  }

  /** Of what a keeper holds: it is ended by its executor, and its end is written when the store takes it. */
  askToStop(pid: Pid, stop: Omit<StopRequest, 'type'>): boolean {
    const attempt = this.#keeping === undefined ? undefined : this.#running.get(pid)
    if (attempt === undefined || attempt.over) return false
    this.#stop(attempt, { ...stop, at: this.#edges.clock.now() })
    return true
  }

  /** `at`: when it was asked for; its grace has gone on since then. */
  #stop(attempt: Attempt, stop: Omit<StopRequest, 'type'> & { readonly at: number }): void {
    attempt.stop(new Stopped(stop.how, stop.reason))
    const { how, reason, source, graceMs } = stop
    attempt.request({ type: 'stop', how, reason, source, ...(graceMs === undefined ? {} : { graceMs }) })
    if (this.#keeping !== undefined) return
    if (how !== 'kill') {
      this.#graces.watch(attempt, stop, this.#runnerOf(attempt.record)?.graceMs?.(attempt.record) ?? 0)
      return
    }
    this.#end(attempt, { status: 'cancelled' }, `kill:${attempt.fenceNumber}`).catch((error: unknown) =>
      this.#edges.onTrouble(error, `killing ${attempt.record.pid}`),
    )
  }

  #forgetEarlyStops(): void {
    if (this.#slots.reserved === 0 && !this.#lookout.isLooking) this.#earlyStops.clear()
  }

  #lose(attempt: Attempt): void {
    this.#forget(attempt)
    attempt.stop(new Stopped('lease_lost', 'Another kernel has taken it over.'))
  }

  #forget(attempt: Attempt): void {
    attempt.over = true
    this.#graces.forget(attempt)
    attempt.settled()
    if (this.#running.get(attempt.record.pid) === attempt) this.#running.delete(attempt.record.pid)
    if (this.#slots.hadTooFew()) this.look()
  }

  async #endedWithin(attempt: Attempt, ms: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.#edges.clock.after(ms, late.resolve)
    await Promise.race([attempt.ended, late.promise])
    cancel()
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#edges.clock.after(ms, resolve))
  }

  #asked(attempt: Attempt) {
    return { pid: attempt.record.pid, actor: `kernel:${this.#holder}`, at: this.#edges.clock.now() } as const
  }

  #wouldServe(event: StoredEvent): boolean {
    if (this.#running.has(event.pid)) return false
    const { kind, spec, placement } = event.payload as unknown as Registration
    return isPlacedAt(placement ?? null, this.#here) && this.#executorOf(kind, spec) !== undefined
  }

  /** A keeper that is given nothing new still has what it began. */
  #runnerOf({ kind, spec }: ProcessRecord): Executor | undefined {
    return this.#keeping === undefined ? this.#executorOf(kind, spec) : this.#executors[0]
  }

  #executorOf(kind: Kind, spec: JsonObject): Executor | undefined {
    const target = targetOf(kind, spec)
    return this.#executors.find((executor) => isServed(executor.serves, kind, target))
  }
}
