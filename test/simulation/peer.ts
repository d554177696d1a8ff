import { createHash, hash } from 'node:crypto'
import { ownerPolicy } from '../../src/core/authority/authorize.ts'
import type { Clock } from '../../src/core/clock.ts'
import { FLOOD_LIMITS } from '../../src/core/inbox/flood.ts'
import type { Json } from '../../src/core/json/json.ts'
import type { Holder, HolderRow, Proof } from '../../src/core/lease/holder.ts'
import { isPlacedAt } from '../../src/core/placement/placement.ts'
import { type Pid, pidFrom } from '../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import type { RegistrationRequest } from '../../src/core/process/register.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import type { Executor, Work } from '../../src/kernel/executor.ts'
import type { Kernel, KernelOptions } from '../../src/kernel/kernel.ts'
import type { Store } from '../../src/store/contract.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { inProcess, type SpawnAs } from '../../src/tool/in-process.ts'
import { Workflows } from '../../src/workflow/in-kernel.ts'
import { runFlow } from './flow.ts'
import type { Ledger } from './ledger.ts'
import type { Plant, Planting } from './plant.ts'
import type { Random } from './random.ts'
import type { Doer } from './schedule.ts'
import { runScript, type Surroundings } from './script.ts'
import { SimulatedStore } from './simulated-store.ts'
import type { Stage } from './stage.ts'
import { WatchedTransaction, type Writer } from './transaction.ts'
import { WatchedKernel } from './watched-kernel.ts'

export interface Neighbourhood {
  readonly stage: Stage
  readonly ledger: Ledger
  readonly file: string
  readonly keys: string[]
  readonly plant: Plant | undefined
  /** Whether a holder's program still runs, in truth. */
  isAlive(holder: string): boolean
  committedBy(peer: Peer): void
}

export interface PeerOptions {
  readonly name: string
  readonly host: string
  readonly serves: readonly ('tool' | 'agent' | 'workflow')[]
  readonly concurrency: number
}

/** Short, so that functions leave memory in the middle of things. */
const PARK_AFTER_MS = 300
const BACKOFF = { baseMs: 500, maxMs: 4_000 }
/** How long a commit stays unseen when the word of it was lost: the safety net of the real watcher. */
const LOOK_MS = 250

/**
 * One simulated program with one kernel, among those that share the file.
 *
 * | state  | tasks and timers        | what the others can see   |
 * | up     | run                     | renews its row            |
 * | frozen | wait until it thaws     | silence; it may lapse     |
 * | dead   | gone, none runs again   | its lock is free          |
 */
export class Peer implements Doer, Writer, Planting, Surroundings {
  readonly name: string
  readonly stage: Stage
  readonly ledger: Ledger
  readonly keys: string[]
  readonly clock: Clock
  readonly #around: Neighbourhood
  readonly #random: Random
  readonly #options: PeerOptions
  readonly #ids: string[] = []
  /** The last attempt at each process here, finished or not. */
  readonly #attempts = new Map<Pid, Work>()
  #state: 'up' | 'frozen' | 'dead' = 'up'
  #offsetMs = 0
  #store: Store | undefined
  #kernel: Kernel | undefined
  #look: (() => void) | undefined
  #looking = false
  #closing = false
  /** Whether its kernel takes requests. */
  ready = false

  constructor(around: Neighbourhood, options: PeerOptions) {
    this.#around = around
    this.#options = options
    this.name = options.name
    this.stage = around.stage
    this.ledger = around.ledger
    this.keys = around.keys
    this.#random = around.stage.random.fork()
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

  /** Its id now; another one after it was removed. */
  get holder(): string {
    return this.#ids.at(-1) ?? `k_${this.name}`
  }

  /** Whether this was its id at some time. */
  was(holder: string | null | undefined): boolean {
    return typeof holder === 'string' && this.#ids.includes(holder)
  }

  get closing(): boolean {
    return this.#closing
  }

  get offsetMs(): number {
    return this.#offsetMs
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** Whether it would execute this one. */
  serves({ kind, placement }: Pick<ProcessRecord, 'kind' | 'placement'>): boolean {
    if (!isPlacedAt(placement, [`host:${this.#options.host}`])) return false
    return (this.#options.serves as readonly string[]).includes(kind)
  }

  /** `kill -9`: nothing of it runs again. Its files are closed when the step is over (`cleanUp`). */
  die(how: string): void {
    if (!this.alive) return
    this.#state = 'dead'
    this.ready = false
    this.stage.say(this.name, `dies ${how}`)
    this.stage.schedule.drop(this)
  }

  /** The operating system closes its files; a transaction that was open is rolled back, and nothing is flushed. */
  cleanUp(): void {
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

  /** In order, as `embed` does it; a program whose close fails ends all the same. */
  close(): void {
    if (this.#closing || this.#kernel === undefined) return
    this.#closing = true
    this.ready = false
    const exit = (how: string) => {
      // What was asked before is still written; then the program goes on for a moment, with its store closed.
      void this.#store?.close()
      this.#store = undefined
      this.stage.schedule.soon(this, 'exits', () => this.die(how))
    }
    this.#kernel.close().then(
      () => exit('after an orderly close'),
      (error: unknown) => exit(`after a close that failed: ${String(error)}`),
    )
  }

  /** Another kernel has committed: it hears soon, or looks by itself a little later. */
  nudge(): void {
    if (this.#look === undefined || this.#looking || !this.alive) return
    this.#looking = true
    const look = () => {
      this.#looking = false
      this.#look?.()
    }
    if (this.stage.random.chance(this.stage.settings.nudgeLossChance)) {
      if (this.stage.faulty) this.stage.counts.fault('nudge lost')
      this.stage.schedule.after(this, LOOK_MS, 'looks', look)
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
      executors: this.#executors(),
      concurrency: this.#options.concurrency,
      times: { ttlMs, renewMs: ttlMs / 3, sweepMs: ttlMs / 3 },
      backoff: BACKOFF,
    }
    const edges = this.#edges(distant)
    this.#kernel = plant?.kernel?.(edges, options) ?? new WatchedKernel(edges, options, this)
    await this.#kernel.start()
    this.ready = true
    this.stage.say(this.name, 'is up')
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
      serves: [],
    }
  }

  #edges(store: Store): Edges {
    return {
      store,
      clock: this.clock,
      random: () => this.#random.next(),
      newPid: () => pidFrom(this.#random.bytes(12)),
      newId: () => pidFrom(this.#random.bytes(12)),
      pidOf: (text) => pidFrom(createHash('sha256').update(text).digest()),
      pidForKey: (actor, key) => pidFrom(createHash('sha256').update(`${actor} ${key}`).digest()),
      hash: (text) => hash('sha256', text),
      // The store's secret is truly random: a key made with it would make every run another one.
      sign: (_secret, text) => hash('sha256', `simulated ${text}`).slice(0, 40),
      sameText: (a, b) => a === b,
      prove: (row) => this.#prove(row),
      authorize: ownerPolicy,
      rules: {
        validate,
        maxPayloadBytes: 10_000,
        maxPendingSignals: 5,
        flood: { ...FLOOD_LIMITS, burst: 2, silenceMs: 5_000 },
      },
      onTrouble: (error, doing) => this.#trouble(error, doing),
    }
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

  /** What embed() does, without the parsing: scripts ask for nothing that would not parse. */
  readonly #spawnAs: SpawnAs = async (work, { idempotencyKey, pid: _pid, ...request }) => {
    const [child] = await this.kernel.register([
      {
        request: request as RegistrationRequest,
        actor: `process:${work.record.pid}`,
        fence: work.fence(),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      },
    ])
    if (child === undefined || child.type === 'refused') throw new Error('A registration without an answer')
    return child.row.record
  }

  #executors(): Executor[] {
    const executors: Executor[] = []
    const serves: readonly string[] = this.#options.serves
    const noVariables = async () => ({})
    if (serves.includes('tool'))
      executors.push(
        this.#watch(inProcess({ script: (context) => runScript(context, this) }, this.#spawnAs, noVariables)),
      )
    if (serves.includes('workflow')) executors.push(this.#watch(this.#workflows()))
    if (serves.includes('agent')) executors.push(this.#watch(this.#agent()))
    return executors
  }

  #workflows(): Executor {
    const workflows = new Workflows(
      async (work, request, place) => {
        const [child] = await this.kernel.register([
          {
            request: { ...request, parent: work.record.pid } as RegistrationRequest,
            actor: `process:${work.record.pid}`,
            fence: work.fence(),
            idempotencyKey: `step:${place}`,
            place,
          },
        ])
        if (child === undefined || child.type === 'refused')
          throw new Error('A registration without an answer')
        return child.row.record
      },
      async () => ({}),
    )
    workflows.add('flow', (context) => runFlow(context, this), { parkAfterMs: PARK_AFTER_MS })
    return workflows
  }

  /** Raw, as an executor of another kind would be: writes with its fence, and ends as it likes. */
  #agent(): Executor {
    return {
      serves: [{ kind: 'agent', targets: null }],
      run: async (work, kernel) => {
        const { pid, spec } = work.record
        for (let turn = 0; turn < Number(spec['turns']); turn++) {
          await this.turn()
          if (work.signal.aborted && spec['deaf'] !== true) throw work.signal.reason
          const replayKey = `turn:${turn}`
          const asked = { pid, actor: `process:${pid}`, at: this.clock.now() } as const
          await kernel.perform({
            ...asked,
            type: 'append',
            event: 'progress',
            payload: turn,
            replayKey,
            fence: work.fence(),
          })
        }
        if (spec['fails'] === true) return { status: 'failed', exitCode: 3, reason: 'It gave up' }
        return { status: 'completed', exitCode: 0, result: { turns: Number(spec['turns']) } }
      },
    }
  }

  #watch(executor: Executor): Executor {
    return {
      serves: executor.serves,
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
    if (entry.record.recovery === 'bound' && entry.begun.length > 0)
      broke('it is bound, and was begun before')
    entry.begun.push(fence)
  }
}

export function isDefect(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
}

/** As much of JSON Schema as these worlds declare. */
function validate(schema: { readonly [key: string]: Json }, payload: Json): string | undefined {
  const { type } = schema
  return type === undefined || type === typeof payload
    ? undefined
    : `it is a ${typeof payload}, not a ${String(type)}`
}
