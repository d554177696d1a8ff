import { EMPTY_ENVIRONMENT, type Environment } from '../core/environment/environment.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { canonical } from '../core/json/canonical.ts'
import { asJson, type Json } from '../core/json/json.ts'
import type { Holder } from '../core/lease/holder.ts'
import type { Placement } from '../core/placement/placement.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Intent, WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Backoff } from '../core/recovery/verdict.ts'
import { isRefusal } from '../core/refusal.ts'
import type { Grant } from '../core/session/grant.ts'
import type { Session, Turn } from '../core/session/session.ts'
import { type Answered, answerByKey, awaitAnswer, keyOf } from './await-answer.ts'
import { BackgroundTasks } from './background-tasks.ts'
import { Carriers, type SessionDeletionReport } from './carriers.ts'
import { type ChargeAnswer, type Charging, charge } from './charge.ts'
import type { Edges } from './edges.ts'
import { environmentFor, putEnvironment } from './environments.ts'
import type { Executions } from './executions.ts'
import type { Executor, Keeping, StopRequest, Work } from './executor.ts'
import { Feed, followChanges } from './feed.ts'
import { revoke, transfer } from './grants.ts'
import { holderExecutions } from './holder-executions.ts'
import { type HolderTimes, retire } from './holders.ts'
import { Keepers } from './keepers.ts'
import { Releases, release } from './overflow.ts'
import { park } from './park.ts'
import { type Done, perform, performAll } from './perform.ts'
import { type OwnIntent, performAs } from './perform-as.ts'
import { Presence } from './presence.ts'
import { type PruneBatch, type PruneOptions, pruneInBatches } from './prune.ts'
import { ReadAccess } from './read-access.ts'
import { emptyReport, type RecoveryReport, recover } from './recover.ts'
import type { Registered, Registering } from './register.ts'
import { registerHere } from './register-here.ts'
import { removeHolder } from './remove-holder.ts'
import { RunLimits } from './run-limits.ts'
import { endSession, endTurn, markDeleted } from './sessions.ts'
import { type Waited, type WaitOptions, waitForEnd, waitForEvent } from './wait.ts'

export interface KernelOptions {
  readonly holder: Holder
  /** Another identity of the same program, for a kernel that goes on after its row was removed. */
  readonly successor: () => Holder
  readonly executors: readonly Executor[]
  /** How many processes this kernel executes at once. */
  readonly concurrency: number
  readonly times: HolderTimes & { readonly sweepMs: number }
  readonly backoff: Backoff
}

const PAGE = 500

/** One running instance over a store: it executes, recovers, carries stops on, and serves waits. */
export class Kernel {
  readonly edges: Edges
  readonly feed: Feed
  readonly readAccess: ReadAccess
  readonly #options: KernelOptions
  readonly #presence: Presence
  /** First the executions of this kernel's own row, then those of each keeper. */
  readonly #executions: readonly Executions[]
  /** The environment of processes that need one and were given none: the empty one. */
  readonly defaultEnvRef: string
  /** Where this kernel is: its host, and the data folders of its keepers. */
  readonly #here: readonly Placement[]
  readonly #background: BackgroundTasks
  readonly #keepers: Keepers
  readonly #carriers: Carriers
  readonly #releases: Releases
  readonly #runLimits: RunLimits
  #renewing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #boot: RecoveryReport = emptyReport()
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(edges: Edges, options: KernelOptions) {
    const { holder, times } = options
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
    this.#background = new BackgroundTasks(edges, () => this.#state === 'open')
    this.#carriers = new Carriers(edges, holder.id, () => this.#state === 'open')
    this.#releases = new Releases(edges, async (scope) => void (await release(edges, scope)))
    this.#runLimits = new RunLimits(edges, this.feed, (pid, reason) =>
      this.perform({
        type: 'stop',
        pid,
        how: 'kill',
        reason,
        cause: null,
        replayKey: reason,
        actor: `kernel:${this.id}`,
        at: edges.clock.now(),
      }),
    )
    const isInLease = () => !this.#presence.mayHaveLapsed
    const { here, executions } = holderExecutions(edges, this, options, isInLease)
    this.#here = here
    this.#executions = executions
    this.#keepers = new Keepers(edges, this.#executions, times)
    this.defaultEnvRef = edges.hash(canonical(asJson(EMPTY_ENVIRONMENT)))
  }

  get id(): string {
    return this.#presence.id
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** The processes that this kernel executes now. */
  get executing(): readonly Pid[] {
    return this.#executions.flatMap(({ pids }) => pids)
  }

  /** Resolves when the kernel is ready. Recovery from dead holders goes on in the background. */
  async start(): Promise<void> {
    const { times } = this.#options
    await Promise.all([this.putEnvironment('host', EMPTY_ENVIRONMENT), this.#presence.announce()])
    await this.feed.start()
    this.feed.onAll((events) => {
      for (const executions of this.#executions) executions.heard(events)
      if (events.some(tripsOverflow))
        this.#background.run('looking for held back matches', () => this.#releases.look())
    })
    this.#state = 'open'
    this.#boot = await this.#keepers.adoptAll()
    this.#background.every('renew', times.renewMs, () => this.renew())
    this.#background.every('sweep', times.sweepMs, async () => void (await this.sweep()))
    this.#background.run('recovering', async () => void (await this.sweep()))
    this.#look()
  }

  /** Ends the processes whose lifetime is the daemon's, while waiters can still hear of it. Answers with their pids. */
  async endWithDaemon(): Promise<Pid[]> {
    return (await Promise.all(this.#executions.map((executions) => executions.endWithDaemon()))).flat()
  }

  /** Hands back what it holds and removes its row. The store stays open. */
  close(keep = false): Promise<void> {
    this.#closing ??= this.#close(keep)
    return this.#closing
  }

  async #close(keep: boolean): Promise<void> {
    this.#state = 'closed'
    this.#background.stop()
    this.#releases.stop()
    this.#runLimits.close()
    this.readAccess.close()
    try {
      await Promise.all(this.#executions.map((executions) => executions.drain(keep)))
      await this.#carriers.settled()
      await this.#keepers.retireIdle()
      await retire(this.edges, this.id)
    } finally {
      this.feed.stop()
    }
  }

  async register(registering: readonly Registering[]): Promise<Registered[]> {
    const lapsed = this.#state === 'open' ? this.sure() : undefined
    // A process that cannot begin here now, because the store is away, is refused or begins later.
    if (lapsed !== undefined) await lapsed.catch(() => undefined)
    const registered = await registerHere(this.edges, registering, {
      executions: this.#executions,
      here: this.#here,
      defaultEnvRef: this.defaultEnvRef,
    })
    // This kernel, or a keeper of it, has no row: it announces itself again, and then looks for work.
    if (registered.some((one) => one.type === 'registered' && one.removed !== undefined))
      this.#background.run('renewing', () => this.renew())
    return registered
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

  /** Stops the process when it has run for as long as its limit allows. */
  limitRun(record: ProcessRecord): void {
    if (this.#state === 'open') this.#runLimits.watch(record)
  }

  /** Charges a process, before the work or after it. */
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

  /** Parks a waiting process, if it still waits for all of these. */
  park(work: Work, waits: readonly WaitRef[]): Promise<boolean> {
    return park(this.edges, work, waits)
  }

  /** The served functions have changed: announces that at once, and looks for work. */
  async announce(): Promise<void> {
    await this.renew()
    for (const executions of this.#executions) executions.lookAndReschedule()
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

  /** Waits until the program has started or the process has ended, at most `timeoutMs`. Answers with the current record. */
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

  /** Null for the empty environment, which costs no question. */
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

  /** Undefined while it is certain that this kernel holds its leases; else resolves when its row is renewed. */
  sure(): Promise<void> | undefined {
    if (!this.#presence.mayHaveLapsed) return undefined
    // After a clock that jumped ahead many calls may ask at once.
    this.#renewing ??= this.renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Renews this kernel's row. If it had lapsed, reclaims its leases. */
  renew(): Promise<void> {
    return this.#presence.renew()
  }

  /** What this kernel found of its keepers' processes when it started. */
  get boot(): RecoveryReport {
    return this.#boot
  }

  /** A keeper has died, and the executor has another one, which has taken its programs over. */
  keeperChanged(keeping: Keeping, former: string, holder: Holder): Promise<void> {
    return this.#keepers.replaced(keeping, former, holder)
  }

  /** A keeper has died without a successor; another keeper of the same folder has taken its programs over. */
  keeperGone(former: string, by: string): Promise<void> {
    return this.#keepers.merged(former, by)
  }

  #look(): void {
    for (const executions of this.#executions) executions.look()
  }

  /** Recovers from dead holders, carries on the stops of crashed kernels, and looks for work. */
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

  /** Declares a holder dead, and settles what it holds. A holder that renews its row is removed only by force. */
  async removeHolder(
    actor: Actor,
    id: string,
    options: { readonly force: boolean },
  ): Promise<RecoveryReport> {
    const denied = this.edges.authorize(actor, 'admin', { type: 'store' })
    if (denied !== undefined) throw new RefusedError(denied)
    // Runs to the end even while this kernel closes: a partial removal has no useful answer.
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
}

function tripsOverflow(event: StoredEvent): boolean {
  const known = knownEvent(event)
  return known?.type === 'watch_matched' && known.payload.told === 'tripped'
}
