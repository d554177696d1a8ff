import { EMPTY_ENVIRONMENT, type Environment } from '../core/environment/environment.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { canonical } from '../core/json/canonical.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { Holder } from '../core/lease/holder.ts'
import { type Placement, placementsOf } from '../core/placement/placement.ts'
import type { StoredEvent, WatchMatch } from '../core/process/event.ts'
import type { Intent, WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Kind, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Backoff } from '../core/recovery/verdict.ts'
import { isRefusal } from '../core/refusal.ts'
import type { Grant } from '../core/session/grant.ts'
import type { Session, Turn } from '../core/session/session.ts'
import { type Answered, answerByKey, awaitAnswer, keyOf } from './await-answer.ts'
import { Carriers, type SessionDeletionReport } from './carriers.ts'
import { type ChargeAnswer, type Charging, charge } from './charge.ts'
import type { Edges } from './edges.ts'
import { environmentFor, putEnvironment } from './environments.ts'
import { Executions } from './executions.ts'
import type { Executor, Keeping, StopRequest, Work } from './executor.ts'
import { Feed, followChanges } from './feed.ts'
import { revoke, transfer } from './grants.ts'
import { type HolderTimes, renew, retire } from './holders.ts'
import { release } from './inbox.ts'
import { Releases } from './overflow.ts'
import { type Done, perform, performAll } from './perform.ts'
import { type OwnIntent, performAs } from './perform-as.ts'
import { Presence } from './presence.ts'
import { type PruneBatch, type PruneOptions, pruneInBatches } from './prune.ts'
import { ReadAccess } from './read-access.ts'
import { emptyReport, type RecoveryReport, recover } from './recover.ts'
import { type Registered, type Registering, register } from './register.ts'
import { removeHolder } from './remove-holder.ts'
import { RunLimits } from './run-limits.ts'
import { endSession, endTurn, markDeleted } from './sessions.ts'
import { type Waited, type WaitOptions, waitForEnd, waitForEvent } from './wait.ts'

export interface KernelOptions {
  readonly holder: Holder
  /** Another identity of the same program, for a kernel that was removed and goes on. */
  readonly successor: () => Holder
  readonly executors: readonly Executor[]
  /** How many processes this kernel executes at once. */
  readonly concurrency: number
  readonly times: HolderTimes & { readonly sweepMs: number }
  readonly backoff: Backoff
}

/** A slot, and what the registration says of it. */
interface Reservation {
  readonly executions?: Executions
  readonly start?: Pick<Registering, 'startBy' | 'whileAnnounced' | 'refuseNew'>
}

const PAGE = 500

/** One running instance over a store: it executes, recovers, carries stops on, and lets others wait. */
export class Kernel {
  readonly edges: Edges
  readonly feed: Feed
  readonly readAccess: ReadAccess
  readonly #options: KernelOptions
  readonly #presence: Presence
  /** What this kernel itself holds, and for each keeper what that one does. */
  readonly #executions: readonly Executions[]
  /** Of processes that need an environment and were given none. It is empty, and not stored. */
  readonly defaultEnvRef: string
  /** Where this kernel is: its host, and the data folders of its keepers. */
  readonly #here: readonly Placement[]
  #cancels = new Map<string, () => void>()
  readonly #carriers: Carriers
  readonly #releases: Releases
  readonly #runLimits: RunLimits
  #renewing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #boot: RecoveryReport = emptyReport()
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(edges: Edges, options: KernelOptions) {
    const { holder, executors, concurrency, times } = options
    if (times.ttlMs < 3 * times.renewMs) {
      throw new ReeveError(
        'invalid_input',
        `A TTL of ${times.ttlMs} ms is less than three renewals of ${times.renewMs} ms.`,
        'Give a holder at least three chances to renew before it counts as dead.',
      )
    }
    this.edges = edges
    this.#options = options
    this.#presence = new Presence(edges, {
      ...options,
      executions: () => this.#executions,
      isClosed: () => this.isClosed,
    })
    this.feed = new Feed(edges)
    this.readAccess = new ReadAccess(edges, this.feed)
    this.#carriers = new Carriers(edges, holder.id, () => this.#state === 'open')
    this.#releases = new Releases(edges, async (scope) => void (await release(edges, scope)))
    this.#runLimits = new RunLimits(edges, this.feed, (pid, reason) =>
      this.perform({
        ...{ type: 'stop', pid, how: 'kill', reason, cause: null, replayKey: reason },
        ...{ actor: `kernel:${this.id}`, at: edges.clock.now() },
      }),
    )
    const inLease = () => !this.#presence.mayHaveLapsed
    const own = executors.filter(({ keeping }) => keeping === undefined)
    const keepers = executors.flatMap(({ keeping }) => (keeping === undefined ? [] : [keeping.holder]))
    const here = placementsOf([holder, ...keepers, ...executors.flatMap(restoredKeepers)])
    this.#here = here
    this.#executions = [
      new Executions(edges, this, holder.id, own, { most: () => concurrency, here, mayClaim: inLease }),
      ...executors.flatMap((executor) => {
        const { keeping } = executor
        if (keeping === undefined) return []
        const mayClaim = () => inLease() && keeping.available
        const { holder: keeper } = keeping
        const most = () => keeping.most
        return [new Executions(edges, this, keeper.id, [executor], { most, here, mayClaim })]
      }),
    ]
    this.defaultEnvRef = edges.hash(canonical(EMPTY_ENVIRONMENT as unknown as Json))
  }

  get id(): string {
    return this.#presence.id
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** What this kernel executes right now. */
  get executing(): readonly Pid[] {
    return this.#executions.flatMap(({ pids }) => pids)
  }

  /** Ready when it resolves; recovery of what others left behind goes on in the background. */
  async start(): Promise<void> {
    const { times } = this.#options
    await Promise.all([this.putEnvironment('host', EMPTY_ENVIRONMENT), this.#presence.announce()])
    await this.feed.start()
    this.feed.onAll((events) => {
      for (const executions of this.#executions) executions.heard(events)
      if (events.some(tripsOverflow))
        this.#inBackground('looking for held back matches', () => this.#releases.look())
    })
    this.#state = 'open'
    this.#boot = await this.#goOn()
    this.#every('renew', times.renewMs, () => this.renew())
    this.#every('sweep', times.sweepMs, async () => void (await this.sweep()))
    this.#inBackground('recovering', async () => void (await this.sweep()))
    this.#look()
  }

  /** Ends what lives as long as the daemon, while everybody can still be told of it. Answers with which these were. */
  async endWithDaemon(): Promise<Pid[]> {
    return (await Promise.all(this.#executions.map((executions) => executions.endWithDaemon()))).flat()
  }

  /** In order: hands back what it holds and takes its row away. The store is left open. */
  close(keep = false): Promise<void> {
    this.#closing ??= this.#close(keep)
    return this.#closing
  }

  async #close(keep: boolean): Promise<void> {
    this.#state = 'closed'
    for (const cancel of this.#cancels.values()) cancel()
    this.#releases.stop()
    this.#runLimits.close()
    this.readAccess.close()
    try {
      await Promise.all(this.#executions.map((executions) => executions.drain(keep)))
      await this.#carriers.settled()
      await this.#retireIdleKeepers()
      await retire(this.edges, this.id)
    } finally {
      this.feed.stop()
    }
  }

  async register(registering: readonly Registering[]): Promise<Registered[]> {
    const lapsed = this.#state === 'open' ? this.sure() : undefined
    // What cannot be begun here now, because the store is away, is refused or begun later.
    if (lapsed !== undefined) await lapsed.catch(() => undefined)
    const reserved = registering.map(({ request }) =>
      request.notBefore === undefined ? this.#reserve(request.kind, request.spec) : {},
    )
    try {
      const here = this.#here
      const asked = registering.map((one, index) => ({ ...one, here, ...reserved[index]?.start }))
      const registered = await register(this.edges, asked, this.defaultEnvRef)
      if (isRefusal(registered)) throw new RefusedError(registered)
      for (const [index, one] of registered.entries()) {
        if (one.type !== 'registered') continue
        if (one.row.holder !== null) reserved[index]?.executions?.begin(one.row)
      }
      if (registered.some((one) => one.type === 'registered' && one.removed !== undefined)) this.#removed()
      return registered
    } catch (error) {
      for (const { executions } of reserved) executions?.doubt(error)
      throw error
    } finally {
      for (const { executions, start } of reserved) executions?.free(start?.startBy)
    }
  }

  /** It, or a keeper of it, announces itself again, and looks for work then. */
  #removed(): void {
    this.#inBackground('renewing', () => this.renew())
  }

  /** A keeper that has all it can take refuses; everything else may wait for its turn. */
  #reserve(kind: Kind, spec: JsonObject): Reservation {
    for (const executions of this.#executions) {
      const answer = executions.reserve(kind, spec)
      if (answer === 'reserved')
        return { executions, start: { startBy: executions.holder, whileAnnounced: true } }
      if (answer === 'full' && executions.keeping !== undefined)
        return { start: { refuseNew: executions.keeping.full } }
    }
    return {}
  }

  /** One intent through the one write path; a stop or an end is carried on to the children it concerns. */
  async perform(intent: Intent): Promise<Done> {
    const performed = await perform(this.edges, intent)
    if (performed.type === 'refused') throw new RefusedError(performed.refusal)
    this.carryOn(performed.row)
    return performed
  }

  /** Asks the keeper of a command to stop it, without a write. False: no keeper has it here. */
  askToStop(pid: Pid, stop: Omit<StopRequest, 'type'>): boolean {
    return this.#executions.some((executions) => executions.askToStop(pid, stop))
  }

  /** From now on it is stopped when it has run for as long as it may. */
  limitRun(record: ProcessRecord): void {
    if (this.#state === 'open') this.#runLimits.watch(record)
  }

  /** What a process uses, before the work or after it. */
  async charge(charging: Charging): Promise<ChargeAnswer> {
    const answer = await charge(this.edges, this.id, charging)
    if (isRefusal(answer)) throw new RefusedError(answer)
    this.carryOn(answer.row)
    return answer
  }

  /** A write of an executor on the process it executes. */
  async performAs(work: Work, intent: OwnIntent): Promise<Done> {
    const performed = await performAs(this.edges, work, intent)
    if (performed.type === 'refused') throw new RefusedError(performed.refusal)
    this.carryOn(performed.row)
    return performed
  }

  /** Lets a process that waits leave memory, if it still waits for all of these. Whoever waits for a child is told of its end. */
  async park(work: Work, waits: readonly WaitRef[]): Promise<boolean> {
    const { pid } = work.record
    const children = new Set(waits.filter(({ on }) => on === 'child').map(({ name }) => name))
    for (;;) {
      const asked = { actor: `process:${pid}`, at: this.edges.clock.now() } as const
      const fence = work.fence()
      const parked = await performAll(this.edges, [
        ...[...children].map((child) => ({ type: 'await_end', pid: child, by: pid, ...asked }) as const),
        { type: 'park', pid, waits, fence, ...asked },
      ])
      if (!isRefusal(parked)) return true
      if (parked.code !== 'stale_fence') return false
      // As with every write of an executor: the fence may have risen meanwhile.
      if (work.fence().fence <= fence.fence) throw new RefusedError(parked)
    }
  }

  /** What it serves has changed: others are told at once, and it looks for work. */
  async announce(): Promise<void> {
    await this.renew()
    for (const executions of this.#executions) executions.lookAnew()
  }

  /** Several intents in one transaction: all of them, or none. */
  async performAll(intents: readonly Intent[]): Promise<Done[]> {
    const performed = await performAll(this.edges, intents)
    if (isRefusal(performed)) throw new RefusedError(performed)
    for (const { row } of performed) this.carryOn(row)
    return performed
  }

  waitForEnd(pid: Pid, options: WaitOptions): Promise<Waited<ProcessRow>> {
    return waitForEnd(this.edges, this.feed, pid, options)
  }

  waitForEvent(
    pid: Pid,
    after: number,
    fits: (event: StoredEvent) => boolean,
    options: WaitOptions,
  ): Promise<Waited<StoredEvent | null>> {
    return waitForEvent(this.edges, this.feed, pid, after, fits, options)
  }

  /** The record when its program is there, or it has ended; as it is when that takes too long. */
  async whenBegun(record: ProcessRecord, timeoutMs: number): Promise<ProcessRecord> {
    const { pid, revision } = record
    const begun = ({ type }: StoredEvent) => type === 'program_started'
    await this.waitForEvent(pid, revision, begun, { timeoutMs })
    return (await this.edges.store.ask({ ask: 'process', pid }))?.record ?? record
  }

  awaitAnswer(work: Work, wait: WaitRef, until: number | null): Promise<Answered> {
    return awaitAnswer(this.edges, this.feed, work, wait, until)
  }

  keyOf(pid: Pid, wait: WaitRef): Promise<string> {
    return keyOf(this.edges, pid, wait)
  }

  answer(actor: Actor, key: string, value: Json): Promise<'accepted' | 'already_resolved' | 'unknown'> {
    return answerByKey(this.edges, actor, key, value)
  }

  follow(
    after: number,
    wanted: (event: StoredEvent) => boolean,
    signal?: AbortSignal,
  ): AsyncGenerator<StoredEvent, void, void> {
    return followChanges(this.edges, this.feed, after, wanted, signal)
  }

  async revoke(actor: Actor, session: string, pids: readonly Pid[]): Promise<number> {
    const revoked = await revoke(this.edges, actor, session, pids)
    await this.readAccess.grantsRevoked()
    return revoked
  }

  async transferGrants(actor: Actor, from: string, to: string, pids: readonly Pid[]): Promise<Grant[]> {
    const grants = await transfer(this.edges, actor, from, to, pids)
    await this.readAccess.grantsRevoked()
    return grants
  }

  /** Null where a process has the empty one, which costs no question. */
  async environmentOf({ envRef }: ProcessRecord, signal: AbortSignal): Promise<Environment | null> {
    if (envRef === null || envRef === this.defaultEnvRef) return null
    return environmentFor(this.edges, envRef, signal)
  }

  putEnvironment(actor: Actor, environment: Environment): Promise<string> {
    return putEnvironment(this.edges, actor, environment)
  }

  async endSession(actor: Actor, id: string): Promise<Session> {
    const session = await endSession(this.edges, actor, id)
    await this.#carriers.session(session)
    return session
  }

  async endTurn(actor: Actor, id: { session: string; turn: string }): Promise<Turn> {
    const turn = await endTurn(this.edges, actor, id)
    await this.#carriers.turn(turn)
    return turn
  }

  async deleteSession(actor: Actor, id: string): Promise<SessionDeletionReport> {
    const report = await this.#carriers.session(await markDeleted(this.edges, actor, id))
    await this.readAccess.grantsRevoked()
    return report
  }

  /** Removes ended processes, one transaction per batch. */
  prune(options: PruneOptions): AsyncGenerator<PruneBatch> {
    return pruneInBatches(this.edges, options)
  }

  get times(): HolderTimes {
    return this.#options.times
  }

  /** Whether what is executed here is still its own: undefined if that is certain, else when it has been found out. */
  sure(): Promise<void> | undefined {
    if (!this.#presence.mayHaveLapsed) return undefined
    // After a clock that jumped ahead many calls may ask at once.
    this.#renewing ??= this.renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Keeps this kernel's row; if it had lapsed, takes its leases again. */
  renew(): Promise<void> {
    return this.#presence.renew()
  }

  /** What this kernel found of its keepers' processes when it started. */
  get boot(): RecoveryReport {
    return this.#boot
  }

  /** A keeper has died, and the executor has another one, which has taken its programs over. */
  async keeperChanged(keeping: Keeping, former: string, holder: Holder): Promise<void> {
    await renew(this.edges, holder, this.#options.times)
    await this.#executions.find((executions) => executions.keeping === keeping)?.holdBy(holder.id, former)
    await retire(this.edges, former)
  }

  /** A keeper has died that has no successor; another one of the same folder has taken its programs over. */
  async keeperGone(former: string, by: string): Promise<void> {
    this.#executions.find(({ holder }) => holder === former)?.letGo()
    await this.#executions.find(({ holder }) => holder === by)?.adoptKept([former])
    await retire(this.edges, former)
  }

  /** Goes on with what the keepers have, whoever was their kernel before. */
  async #goOn(): Promise<RecoveryReport> {
    const report = emptyReport()
    if (this.#executions.every(({ keeping }) => keeping === undefined)) return report
    const holders = await this.edges.store.ask({ ask: 'holders' })
    const current = this.#executions.map(({ holder }) => holder)
    for (const executions of this.#executions) {
      const { keeping } = executions
      if (keeping === undefined) continue
      const forerunners = holders
        .filter(({ role, incarnation }) => role === 'keeper' && isFor(keeping, incarnation))
        .map(({ id }) => id)
        .filter((id) => !current.includes(id))
      const found = new Map<Pid, ReturnType<typeof keeping.found>>()
      const pids = await executions.adoptKept(forerunners, (record) =>
        found.set(record.pid, keeping.found(record)),
      )
      report.checked.push(...pids)
      for (const pid of pids) report[found.get(pid) ?? 'adopted'].push(pid)
      for (const id of forerunners) await retire(this.edges, id)
    }
    return report
  }

  /** A keeper that holds something keeps its row: the next kernel finds its processes by it. */
  async #retireIdleKeepers(): Promise<void> {
    for (const { keeping } of this.#executions) {
      if (keeping === undefined) continue
      const { id } = keeping.holder
      const { items } = await this.edges.store.ask({ ask: 'held', holder: id, after: null, limit: 1 })
      if (items.length === 0) await retire(this.edges, id)
    }
  }

  #look(): void {
    for (const executions of this.#executions) executions.look()
  }

  /** Recovers what dead holders left, carries on what crashed carriers left, looks for work. */
  async sweep(): Promise<RecoveryReport> {
    const adopted: Pid[] = []
    for (const executions of this.#executions) adopted.push(...(await executions.adopt()))
    const report = await recover(this.edges, this.id, this.#options.backoff, () => this.#state === 'closed')
    report.adopted.push(...adopted)
    for (const scope of await this.edges.store.ask({ ask: 'carryingScopes', limit: PAGE })) {
      if ('session' in scope) await this.#carriers.session(scope.session)
      else await this.#carriers.turn(scope.turn)
    }
    const carrying = await this.edges.store.ask({ ask: 'carrying', after: null, limit: PAGE })
    for (const row of carrying.items) this.carryOn(row)
    await this.#releases.look()
    this.#look()
    return report
  }

  /** Declares a holder dead, and settles what it holds. One that is alive and well is removed only by force. */
  async removeHolder(
    actor: Actor,
    id: string,
    options: { readonly force: boolean },
  ): Promise<RecoveryReport> {
    const denied = this.edges.authorize(actor, 'admin', { type: 'store' })
    if (denied !== undefined) throw new RefusedError(denied)
    // Settled to the end, also while this kernel closes: half of it would be no answer.
    const recovering = { self: this.id, backoff: this.#options.backoff, closed: () => false }
    const report = await removeHolder(this.edges, recovering, id, options)
    if (isRefusal(report)) throw new RefusedError(report)
    this.#look()
    return report
  }

  /** Carries a marked stop or end down the tree, in the background. */
  carryOn(row: ProcessRow): void {
    this.#carriers.carryOn(row)
  }

  /** Again and again, each time after the last has finished, and never after `close`. */
  #every(name: string, ms: number, task: () => Promise<void>): void {
    const again = () => {
      this.#cancels.delete(name)
      this.#inBackground(name, async () => {
        try {
          await task()
        } finally {
          if (this.#state === 'open') this.#every(name, ms, task)
        }
      })
    }
    this.#cancels.set(name, this.edges.clock.after(ms, again))
  }

  #inBackground(doing: string, task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      if (this.#state === 'open') this.edges.onTrouble(error, doing)
    })
  }
}

function tripsOverflow({ type, payload }: StoredEvent): boolean {
  return type === 'watch_matched' && (payload as unknown as WatchMatch).told === 'tripped'
}

function isFor({ holder, restoredFrom = [] }: Keeping, incarnation: string): boolean {
  return incarnation === holder.incarnation || restoredFrom.includes(incarnation)
}

/** Processes that were placed in a folder whose state was restored here are executed here. */
function restoredKeepers({ keeping }: Executor): Pick<Holder, 'role' | 'host' | 'incarnation'>[] {
  return (keeping?.restoredFrom ?? []).map((incarnation) => ({ role: 'keeper', host: '', incarnation }))
}
