import { cronTimes } from '../../src/calendar/cron-times.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Holder, HolderRow, Proof } from '../../src/core/lease/holder.ts'
import { isPlacedAt } from '../../src/core/placement/placement.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import type { Executor, Work } from '../../src/kernel/executor.ts'
import type { Kernel, KernelOptions } from '../../src/kernel/kernel.ts'
import { Workspaces } from '../../src/kernel/workspaces.ts'
import type { Store } from '../../src/store/contract.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import type { SessionLaws } from './agents/session-laws.ts'
import { SimulatedAgents } from './agents/simulated-agents.ts'
import type { ActLog } from './authority/act-log.ts'
import type { AllowedCommands } from './authority/allowed-commands.ts'
import type { ApprovalLog } from './authority/approval-log.ts'
import { commands } from './authority/commands.ts'
import { Machine } from './authority/machine.ts'
import type { PolicyFolders } from './authority/policy-folders.ts'
import type { SimulatedFiles } from './definitions/simulated-files.ts'
import { type ExecutorHost, executorsFor } from './executors.ts'
import type { Ledger } from './ledger.ts'
import { payloadOf } from './payload.ts'
import type { Plant, Planting } from './plant.ts'
import type { Random } from './random.ts'
import type { Doer } from './schedule.ts'
import { simulatedEdges } from './simulated-edges.ts'
import { SimulatedStore } from './simulated-store.ts'
import type { Stage } from './stage.ts'
import { WatchedTransaction, type Writer } from './transaction.ts'
import { WatchedKernel } from './watched-kernel.ts'
import { hasAgents, type WorldKind } from './world-kind.ts'

export interface PeerWorld {
  readonly stage: Stage
  readonly ledger: Ledger
  readonly file: string
  readonly keys: string[]
  readonly plant: Plant | undefined
  readonly kind: WorldKind
  readonly sessionLaws: SessionLaws
  readonly approvals: ApprovalLog
  readonly acts: ActLog
  readonly allowed: AllowedCommands
  readonly policies: PolicyFolders
  readonly files: SimulatedFiles
  readonly machines: ReadonlyMap<string, Machine>
  /** Whether a holder's program really runs. */
  isAlive(holder: string): boolean
  committedBy(peer: Peer): void
}

export interface PeerOptions {
  readonly name: string
  readonly host: string
  readonly serves: readonly ('tool' | 'agent' | 'workflow')[]
  readonly concurrency: number
}

const BACKOFF = { baseMs: 500, maxMs: 4_000 }
/** How long a commit stays unseen after a lost nudge: the polling interval of the real watcher. */
const POLL_MS = 250

/**
 * One simulated program with one kernel; several share the file.
 *
 * | state  | tasks and timers        | what the others can see   |
 * | up     | run                     | renews its row            |
 * | frozen | wait until it thaws     | silence; it may lapse     |
 * | dead   | gone, none runs again   | its lock is free          |
 */
export class Peer implements Doer, Writer, Planting, ExecutorHost {
  readonly name: string
  readonly stage: Stage
  readonly ledger: Ledger
  readonly keys: string[]
  readonly clock: Clock
  readonly #around: PeerWorld
  readonly #random: Random
  readonly #options: PeerOptions
  readonly #ids: string[] = []
  /** The last attempt at each process by this kernel, finished or not. */
  readonly #attempts = new Map<Pid, Work>()
  #state: 'up' | 'frozen' | 'dead' = 'up'
  #offsetMs = 0
  #store: Store | undefined
  #kernel: Kernel | undefined
  readonly #agents: SimulatedAgents | undefined
  #look: (() => void) | undefined
  #looking = false
  #closing = false
  /** Whether its kernel accepts requests. */
  ready = false

  constructor(around: PeerWorld, options: PeerOptions) {
    this.#around = around
    this.#options = options
    this.name = options.name
    this.stage = around.stage
    this.ledger = around.ledger
    this.keys = around.keys
    this.#random = around.stage.random.fork()
    const drivesAgents = hasAgents(around.kind) && options.serves.includes('agent')
    this.#agents = drivesAgents
      ? new SimulatedAgents(this, around.sessionLaws, around.kind === 'long_term')
      : undefined
    this.clock = {
      now: () => this.stage.now + this.#offsetMs,
      after: (ms, task) => (this.alive ? this.stage.schedule.after(this, ms, 'timer', task) : () => {}),
    }
    this.#boot().catch((error: unknown) => {
      this.stage.say(this.name, `does not come up: ${String(error)}`)
      this.die('while starting')
    })
  }

  get awake(): boolean {
    return this.#state === 'up'
  }

  get alive(): boolean {
    return this.#state !== 'dead'
  }

  get kernel(): Kernel {
    if (this.#kernel === undefined) throw new Error(`${this.name} has no kernel yet`)
    return this.#kernel
  }

  /** Its current id; it gets another one after it was removed. */
  get holder(): string {
    return this.#ids.at(-1) ?? `k_${this.name}`
  }

  /** Whether this is or was its id. */
  was(holder: string | null | undefined): boolean {
    return typeof holder === 'string' && this.#ids.includes(holder)
  }

  get host(): string {
    return this.#options.host
  }

  get closing(): boolean {
    return this.#closing
  }

  get #hasRules(): boolean {
    return this.#around.kind === 'rules'
  }

  get offsetMs(): number {
    return this.#offsetMs
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** Whether it would execute this process. */
  serves({ kind, placement }: Pick<ProcessRecord, 'kind' | 'placement'>): boolean {
    if (!isPlacedAt(placement, [`host:${this.#options.host}`])) return false
    if (kind === 'command') return this.#hasRules
    return (this.#options.serves as readonly string[]).includes(kind)
  }

  /** `kill -9`: nothing of it runs again. Its files are closed after the step (`closeFiles`). */
  die(how: string): void {
    if (!this.alive) return
    this.#state = 'dead'
    this.ready = false
    this.stage.say(this.name, `dies ${how}`)
    this.stage.schedule.drop(this)
  }

  /** The operating system closes the files: an open transaction is rolled back, and nothing is flushed. */
  closeFiles(): void {
    void this.#store?.close()
    this.#store = undefined
  }

  freeze(): void {
    this.#state = 'frozen'
  }

  thaw(): void {
    if (this.#state === 'frozen') this.#state = 'up'
  }

  jump(ms: number): void {
    this.#offsetMs = ms
  }

  /** Closes in order, as `embed` does; a program whose close fails ends all the same. */
  close(): void {
    if (this.#closing || this.#kernel === undefined) return
    this.#closing = true
    this.ready = false
    this.#agents?.close()
    const exit = (how: string) => {
      // Earlier requests are still written. Then the program goes on for a moment, with its store closed.
      void this.#store?.close()
      this.#store = undefined
      this.stage.schedule.soon(this, 'exits', () => this.die(how))
    }
    this.#kernel.close().then(
      () => exit('after an orderly close'),
      (error: unknown) => exit(`after a close that failed: ${String(error)}`),
    )
  }

  /** Another kernel has committed: this one is nudged soon, or polls a little later. */
  nudge(): void {
    if (this.#look === undefined || this.#looking || !this.alive) return
    this.#looking = true
    const look = () => {
      this.#looking = false
      this.#look?.()
    }
    if (this.stage.random.chance(this.stage.settings.nudgeLossChance)) {
      if (this.stage.faulty) this.stage.counts.fault('nudge lost')
      this.stage.schedule.after(this, POLL_MS, 'looks', look)
    } else this.stage.schedule.soon(this, 'is nudged', look)
  }

  committed(): void {
    this.#around.committedBy(this)
  }

  turn(): Promise<void> {
    if (!this.alive) return new Promise(() => {})
    return new Promise((resolve) => this.stage.schedule.soon(this, 'goes on executing', resolve))
  }

  fenceOf(pid: Pid): number | undefined {
    return this.#attempts.get(pid)?.fence().fence
  }

  /** Whether the executor of this process has been told to stop. */
  isToldToStop(pid: Pid): boolean {
    return this.#attempts.get(pid)?.signal.aborted === true
  }

  async #boot(): Promise<void> {
    const { plant, file } = this.#around
    let list: WatchedTransaction | undefined
    const store = await openSqlite(file, {
      clock: this.clock,
      random: () => this.#random.next(),
      soon: (task) => this.stage.schedule.soon(this, 'commits', task),
      watch: (_file, _clock, look) => {
        this.#look = look
        return () => {
          this.#look = undefined
        }
      },
      wrap: (tables) => {
        const planted = plant?.transaction?.(tables, this) ?? tables
        list = new WatchedTransaction(planted, this.stage, this.ledger, this)
        return list
      },
    })
    this.#store = store
    if (list === undefined) throw new Error('The store does not use the transaction it was given')
    const alter = plant?.plan ?? ((plan) => plan)
    const distant = new SimulatedStore(store, this.stage, this, list, (plan) => alter(plan, this))
    const { ttlMs } = this.stage.settings
    const options: KernelOptions = {
      holder: this.#identity(),
      successor: () => this.#identity(),
      executors: this.#executors().map((executor) => this.#watch(executor)),
      concurrency: this.#options.concurrency,
      times: { ttlMs, renewMs: ttlMs / 3, sweepMs: ttlMs / 3 },
      backoff: BACKOFF,
    }
    const edges = this.#edges(distant)
    this.#kernel = plant?.kernel?.(edges, options) ?? new WatchedKernel(edges, options, this)
    await this.#kernel.start()
    this.#agents?.start()
    this.ready = true
    this.stage.say(this.name, 'is up')
  }

  #executors(): Executor[] {
    const { approvals, acts, allowed, machines } = this.#around
    const { host, serves } = this.#options
    const own = executorsFor(this, serves)
    if (this.#agents !== undefined) return [...this.#agents.executors, ...own]
    if (!this.#hasRules) return own
    const machine = machines.get(host) ?? new Machine(host)
    return [
      ...own,
      commands({ machine, approvals, acts, allowed, clock: this.clock, turn: () => this.turn() }),
    ]
  }

  #identity(): Holder {
    const id = this.#ids.length === 0 ? `k_${this.name}` : `k_${this.name}_${this.#ids.length + 1}`
    this.#ids.push(id)
    return {
      id,
      role: 'kernel',
      host: this.#options.host,
      boot: '1',
      pidNamespace: '1',
      osPid: 1,
      startTime: '1',
      incarnation: this.name,
      serves: this.#hasRules ? this.#executors().flatMap(({ serves }) => serves) : [],
    }
  }

  #edges(store: Store): Edges {
    const { policies, kind, files } = this.#around
    const workspaces = this.#hasRules ? new Workspaces(policies.readBy(() => this.turn())) : undefined
    return simulatedEdges({
      store,
      clock: this.clock,
      random: this.#random,
      prove: (row) => this.#prove(row),
      onTrouble: (error, doing) => this.#trouble(error, doing),
      workspaces,
      definitions: kind === 'definitions' ? { cron: cronTimes, fileSets: files.seenBy(this) } : undefined,
    })
  }

  #prove({ id }: HolderRow): Proof {
    const { proofs } = this.stage.settings
    const silent = proofs === 'unknown' || (proofs === 'mixed' && this.stage.random.chance(0.5))
    if (silent) return 'unknown'
    return this.#around.isAlive(id) ? 'alive' : 'dead'
  }

  #trouble(error: unknown, doing: string): void {
    if (!this.alive) return
    this.stage.say(
      this.name,
      `trouble while ${doing}: ${error instanceof Error ? error.message : String(error)}`,
    )
    if (isDefect(error)) this.stage.violated('no defect', `${this.name}, ${doing}: ${String(error)}`)
  }

  #watch(executor: Executor): Executor {
    const { resolve } = executor
    return {
      serves: executor.serves,
      ...(resolve === undefined ? {} : { resolve }),
      run: (work, kernel) => {
        if (!this.alive) return new Promise(() => {})
        this.#began(work)
        return executor.run(work, kernel)
      },
    }
  }

  #began(work: Work): void {
    const { pid } = work.record
    const { fence, holder } = work.fence()
    this.stage.say(this.name, `begins ${pid} under fence ${fence}`)
    this.#attempts.set(pid, work)
    const entry = this.ledger.entry(pid)
    const broke = (what: string) => this.stage.violated('one executor', `${this.name} begins ${pid}: ${what}`)
    if (entry === undefined) {
      broke('it is not registered')
      return
    }
    if (entry.granted.get(fence) !== holder || !this.was(holder))
      broke(`fence ${fence} is ${entry.granted.get(fence)}'s`)
    if (entry.begun.includes(fence)) broke(`fence ${fence} was executed before`)
    const askedAgain = entry.events.filter((event) => payloadOf(event, 'approval_requested')?.again === true)
    if (entry.record.recovery === 'bound' && entry.begun.length > askedAgain.length)
      broke('it is bound, and was begun before')
    entry.begun.push(fence)
  }
}

export function isDefect(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
}
