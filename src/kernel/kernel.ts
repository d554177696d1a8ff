import { EMPTY_ENVIRONMENT, type Environment } from '../core/environment/environment.ts'
import { RefusedError } from '../core/errors.ts'
import { canonical } from '../core/json/canonical.ts'
import { asJson } from '../core/json/json.ts'
import type { Holder } from '../core/lease/holder.ts'
import { hostIn, isPlacedAt, type Placement } from '../core/placement/placement.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Backoff } from '../core/recovery/verdict.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { Agents } from './agents.ts'
import { Approvals } from './approvals.ts'
import { refuseAct } from './audit.ts'
import { BackgroundTasks } from './background-tasks.ts'
import { Carriers } from './carriers.ts'
import { carryToHooks, type StartEndHooks } from './carry-hooks.ts'
import { type ChargeAnswer, type Charging, charge } from './charge.ts'
import type { Edges } from './edges.ts'
import { environmentFor, putEnvironment } from './environments.ts'
import type { Executions } from './executions.ts'
import type { Executor, StopRequest, Work } from './executor.ts'
import { type Explaining, type Explanation, explainRegistration } from './explain.ts'
import { Feed, followChanges } from './feed.ts'
import { holderExecutions } from './holder-executions.ts'
import { checkTimes, type HolderTimes, retire } from './holders.ts'
import { Keepers } from './keepers.ts'
import { Objects } from './objects.ts'
import { Releases, release, tripsOverflow } from './overflow.ts'
import { type Done, perform, performAll } from './perform.ts'
import { type OwnIntent, performAs } from './perform-as.ts'
import { Presence } from './presence.ts'
import { ProcessWaits } from './process-waits.ts'
import { ReadAccess } from './read-access.ts'
import { emptyReport, type Recovering, type RecoveryReport } from './recover.ts'
import type { Registered, Registering } from './register.ts'
import { registerHere } from './register-here.ts'
import { removeHolder } from './remove-holder.ts'
import { RunLimits } from './run-limits.ts'
import { Schedules } from './schedules.ts'
import { SessionActs } from './session-acts.ts'
import { sweep } from './sweep.ts'
import { Triggers } from './triggers.ts'

export interface KernelOptions {
  readonly holder: Holder
  /** Another identity of the same program, for a kernel that goes on after its row was removed. */
  readonly successor: () => Holder
  readonly executors: readonly Executor[]
  /** How many processes this kernel executes at once. */
  readonly concurrency: number
  readonly times: HolderTimes & { readonly sweepMs: number }
  readonly backoff: Backoff
  /** Absent in a program that runs no hooks. */
  readonly startEndHooks?: StartEndHooks
}

/** One running instance over a store: it executes, recovers, carries stops on, and serves waits. */
export class Kernel {
  readonly edges: Edges
  readonly feed: Feed
  readonly readAccess: ReadAccess
  readonly waits: ProcessWaits
  readonly sessions: SessionActs
  readonly keepers: Keepers
  readonly approvals: Approvals
  readonly agents: Agents
  readonly schedules: Schedules
  readonly objects: Objects
  readonly triggers: Triggers
  readonly #options: KernelOptions
  readonly #presence: Presence
  /** First the executions of this kernel's own row, then those of each keeper. */
  readonly #executions: readonly Executions[]
  /** The environment of processes that need one and were given none: the empty one. */
  readonly defaultEnvRef: string
  /** Where this kernel is: its host, and the data folders of its keepers. */
  readonly #here: readonly Placement[]
  readonly #background: BackgroundTasks
  readonly #carriers: Carriers
  readonly #releases: Releases
  readonly #runLimits: RunLimits
  #closing: Promise<void> | undefined
  #boot: RecoveryReport = emptyReport()
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(edges: Edges, options: KernelOptions) {
    const { holder, times } = options
    checkTimes(times)
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
    const isOpen = () => this.#state === 'open'
    this.#carriers = new Carriers(edges, holder.id, { isOpen, startEndHooks: options.startEndHooks })
    this.#releases = new Releases(edges, async (scope) => void (await release(edges, scope)))
    this.#runLimits = new RunLimits(edges, this.feed, {
      self: () => this.id,
      perform: (intent) => this.perform(intent),
    })
    this.waits = new ProcessWaits(edges, this.feed)
    this.approvals = new Approvals(edges, this, options.executors)
    this.agents = new Agents(edges, this)
    this.objects = new Objects(edges)
    this.schedules = new Schedules(edges, this, () => this.#here)
    this.triggers = new Triggers(edges, this, this.feed, () => this.#here)
    this.sessions = new SessionActs(edges, { carriers: this.#carriers, readAccess: this.readAccess })
    const isInLease = () => !this.#presence.mayHaveLapsed
    const { here, executions } = holderExecutions(edges, this, options, isInLease)
    this.#here = here
    this.#executions = executions
    this.keepers = new Keepers(edges, this.#executions, times)
    this.defaultEnvRef = edges.hash(canonical(asJson(EMPTY_ENVIRONMENT)))
  }

  get id(): string {
    return this.#presence.id
  }

  /** The name of its host; null if it is not known. */
  get host(): string | null {
    return hostIn(this.#here)
  }

  /** Whether a process of this placement may be executed by this kernel, as far as its place decides. */
  isHere(placement: Placement | null): boolean {
    return isPlacedAt(placement, this.#here)
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
    await Promise.all([putEnvironment(this.edges, 'host', EMPTY_ENVIRONMENT), this.#presence.announce()])
    await this.feed.start()
    this.feed.onAll((events) => {
      for (const executions of this.#executions) executions.heard(events)
      this.approvals.heard(events)
      if (events.some(tripsOverflow))
        this.#background.run('looking for held back matches', () => this.#releases.look())
    })
    this.#state = 'open'
    this.triggers.start()
    this.#boot = await this.keepers.adoptAll()
    this.#background.every('renew', times.renewMs, () => this.renew())
    this.#background.every('sweep', times.sweepMs, async () => void (await this.sweep()))
    this.#background.run('recovering', async () => void (await this.sweep()))
    this.#look()
  }

  /** Ends the processes whose lifetime is the daemon's, while waiters still get the ends. Returns their pids. */
  async endWithDaemon(): Promise<Pid[]> {
    return (await Promise.all(this.#executions.map((executions) => executions.endWithDaemon()))).flat()
  }

  /** Hands back its leases and removes its row. The store stays open. */
  close(keep = false): Promise<void> {
    this.#closing ??= this.#close(keep)
    return this.#closing
  }

  async #close(keep: boolean): Promise<void> {
    this.#state = 'closed'
    this.#background.stop()
    this.#releases.stop()
    this.approvals.close()
    this.#runLimits.close()
    this.readAccess.close()
    try {
      await this.triggers.close()
      await Promise.all(this.#executions.map((executions) => executions.drain(keep)))
      await this.#carriers.settled()
      await this.approvals.coveredSettled()
      await this.keepers.retireIdle()
      await retire(this.edges, this.id)
    } finally {
      this.feed.stop()
    }
  }

  /** What the rules say about a process that could be registered here. */
  explain(request: RegistrationRequest, asked: Pick<Explaining, 'actor'>): Promise<Explanation | Refusal> {
    return explainRegistration(this.edges, request, asked, {
      here: this.#here,
      defaultEnvRef: this.defaultEnvRef,
      resolve: (record) => this.approvals.resolve(record),
    })
  }

  async register(registering: readonly Registering[]): Promise<Registered[]> {
    const lapsed = this.#state === 'open' ? this.sure() : undefined
    // A process that cannot begin here now, because the store is away, is refused or begins later.
    if (lapsed !== undefined) await lapsed.catch(() => undefined)
    const registered = await registerHere(this.edges, registering, {
      executions: this.#executions,
      here: this.#here,
      defaultEnvRef: this.defaultEnvRef,
      resolve: (record) => this.approvals.resolve(record),
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

  follow(
    after: number,
    wanted: (event: StoredEvent) => boolean,
    signal?: AbortSignal,
  ): AsyncGenerator<StoredEvent, void, void> {
    return followChanges(this.edges, this.feed, after, wanted, signal)
  }

  /** Null for the empty environment, which costs no question. */
  async environmentOf({ envRef }: ProcessRecord, signal: AbortSignal): Promise<Environment | null> {
    if (envRef === null || envRef === this.defaultEnvRef) return null
    return environmentFor(this.edges, envRef, signal)
  }

  get times(): HolderTimes {
    return this.#options.times
  }

  /** Undefined while it is certain that this kernel holds its leases; else resolves when its row is renewed. */
  sure(): Promise<void> | undefined {
    return this.#presence.sure()
  }

  /** Renews this kernel's row. If it had lapsed, reclaims its leases. */
  renew(): Promise<void> {
    return this.#presence.renew()
  }

  /** The report about the processes of its keepers from the start of this kernel. */
  get boot(): RecoveryReport {
    return this.#boot
  }

  #recovering(closed: () => boolean): Recovering {
    return { self: this.id, backoff: this.#options.backoff, closed }
  }

  #look(): void {
    for (const executions of this.#executions) executions.look()
  }

  /** Recovers from dead holders, carries on the stops of crashed kernels, and looks for work. */
  sweep(): Promise<RecoveryReport> {
    return sweep(this.edges, {
      recovering: this.#recovering(() => this.isClosed),
      executions: this.#executions,
      carriers: this.#carriers,
      releases: this.#releases,
      approvals: this.approvals,
      schedules: this.schedules,
      triggers: this.triggers,
    })
  }

  /** Declares a holder dead, and settles its processes. A holder that renews its row is removed only by force. */
  async removeHolder(
    actor: Actor,
    id: string,
    options: { readonly force: boolean },
  ): Promise<RecoveryReport> {
    const denied = this.edges.authorize(actor, 'admin', { type: 'store' })
    await refuseAct(this.edges, denied, { actor, action: 'removeHolder', target: 'store' })
    // Runs to the end even while this kernel closes: a partial removal has no useful answer.
    const report = await removeHolder(
      this.edges,
      this.#recovering(() => false),
      id,
      options,
    )
    if (isRefusal(report)) throw new RefusedError(report)
    this.#look()
    return report
  }

  /** Resolves when the hooks of the ends of an agent are registered that have been written so far. */
  startEndHooks(pid: Pid): Promise<void> {
    return carryToHooks(this.edges, pid, this.#options.startEndHooks)
  }

  /** Carries a marked stop or end down the tree, in the background. */
  carryOn(row: ProcessRow): void {
    this.#carriers.carryOn(row)
  }
}
