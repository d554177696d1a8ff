import type { Holder, Served } from '../core/lease/holder.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord, Program } from '../core/process/record.ts'
import { hasEnded } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type {
  AskName,
  Asks,
  EndAnswer,
  KeeperIdentity,
  ProgramState,
  SpawnPlan,
  Tell,
} from '../keeper/protocol/messages.ts'
import type { Executor, Keeping, Lost, Request, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { endingOf, type Stop } from './ending.ts'
import { type KeeperLink, KeeperRefused, LinkLost } from './keeper-link.ts'
import type { Reached } from './reach-keeper.ts'
import { SpareReaders } from './spare-readers.ts'

type Ended = Exclude<ProgramState, { state: 'running' }>
type StopRequest = Extract<Request, { type: 'stop' }>

export interface KeeperSideOptions {
  readonly homeId: string
  readonly fifos: string
  /** Nothing new goes to a keeper of an older protocol. */
  readonly serves: readonly Served[]
  readonly most: number
  /** Reaches the keeper again after its connection ended: the same one, or its successor. Undefined: there is none. */
  readonly reach: (listening: {
    onTell: (tell: Tell) => void
    onLost: () => void
  }) => Promise<Reached | undefined>
  /** It has died, and has no successor. */
  readonly gone?: (keeper: KeeperSide) => Promise<void>
  readonly plan: (record: ProcessRecord, kernel: Kernel) => Promise<SpawnPlan>
  /** What asks this program to end, and how long it may take, for a request that does not say. */
  readonly ends: (record: ProcessRecord, request: StopRequest) => { signal: string; graceMs: number }
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** What this kernel asks of one command's program while it runs. */
interface Running {
  readonly record: ProcessRecord
  readonly ended: (state: Ended) => void
  begun: boolean
  stop: StopRequest | undefined
  paused: boolean
}

const RETRY_MS = 100
const ENDINGS_KEPT_MS = 30_000
const RETRY_MAX_MS = 5_000

/**
 * One keeper, as this kernel sees it: the executor of its commands, whose leases the keeper holds.
 *
 * | the connection | spawn              | a stop, a pause             | a program's end                        |
 * | is up          | asked at once      | asked at once               | told, written, acknowledged            |
 * | is down        | waits until it is up | remembered, asked when it is up | found in the next hello, then the same |
 */
export class KeeperSide implements Executor, Keeping {
  readonly keeping: Keeping = this
  readonly serves: readonly Served[]
  readonly most: number
  readonly full: Refusal
  readonly #options: KeeperSideOptions
  readonly #spares: SpareReaders
  readonly #running = new Map<Pid, Running>()
  /** What the keeper has told of programs that no run has asked for yet. */
  readonly #told = new Map<Pid, ProgramState>()
  /** The ends that are under way, or were lately. */
  readonly #endings = new Map<Pid, Promise<EndAnswer>>()
  readonly #followers = new Map<Pid, Set<() => void>>()
  #identity: KeeperIdentity
  #link: KeeperLink | undefined
  #whenUp: (() => void)[] = []
  #kernel: Kernel | undefined
  #closed = false

  private constructor(options: KeeperSideOptions, reached: Reached) {
    this.#options = options
    this.serves = options.serves
    this.most = options.most
    this.full = tooMany(options.most)
    this.#spares = new SpareReaders(options.fifos)
    this.#identity = reached.hello.keeper
    this.#link = reached.link
    for (const state of reached.hello.programs) this.#told.set(state.pid, state)
  }

  /** Undefined if there is no such keeper. */
  static async open(options: KeeperSideOptions): Promise<KeeperSide | undefined> {
    let side: KeeperSide | undefined
    const early: Tell[] = []
    const reached = await options.reach({
      onTell: (tell) => (side === undefined ? early.push(tell) : side.#heard(tell)),
      onLost: () => {
        if (side !== undefined) side.#lost()
      },
    })
    if (reached === undefined) return undefined
    side = new KeeperSide(options, reached)
    for (const tell of early) side.#heard(tell)
    return side
  }

  get holder(): Holder {
    const { id, host, boot, pidNamespace, osPid, startTime } = this.#identity
    const { homeId } = this.#options
    return {
      ...{ id, host, boot, pidNamespace, osPid, startTime },
      ...{ role: 'keeper', incarnation: homeId, serves: [] },
    }
  }

  get identity(): KeeperIdentity {
    return this.#identity
  }

  get available(): boolean {
    return this.#link !== undefined && !this.#closed
  }

  found(pid: Pid): 'adopted' | 'completed' | 'abandoned' {
    const state = this.#told.get(pid)?.state
    return state === 'lost'
      ? 'abandoned'
      : state === 'exited' || state === 'failed_start'
        ? 'completed'
        : 'adopted'
  }

  /** From now on its kernel hears of a change of keeper. */
  serve(kernel: Kernel): void {
    this.#kernel = kernel
  }

  async run(work: Work, kernel: Kernel): Promise<Ending | Lost> {
    const { record } = work
    const whenEnded = Promise.withResolvers<Ended>()
    const { stopRequest } = record
    const running: Running = {
      record,
      ended: whenEnded.resolve,
      begun: false,
      stop: stopRequest === null ? undefined : { type: 'stop', ...stopRequest },
      paused: false,
    }
    this.#running.set(record.pid, running)
    const gone = goneOf(work)
    let deaf = () => {}
    try {
      const begun = await Promise.race([this.#begin(work, kernel), gone.promise])
      if (begun.state !== 'running') return endingOf(begun, stopOf(running))
      if (record.program === null)
        await kernel.performAs(work, { type: 'program_started', program: programOf(begun) })
      running.begun = true
      this.#spares.hold(record.pid)
      running.paused = begun.paused
      deaf = work.onRequest((request) => this.#asked(running, request))
      const ended = await Promise.race([whenEnded.promise, gone.promise])
      return endingOf(ended, stopOf(running))
    } finally {
      deaf()
      gone.done()
      if (this.#running.get(record.pid) === running) this.#running.delete(record.pid)
      this.#spares.release(record.pid)
    }
  }

  /** Its end is written: the keeper may forget it. If it cannot be told now, the next hello shows it again. */
  settled(pid: Pid): void {
    this.#told.delete(pid)
    this.#inBackground(`acknowledging ${pid}`, () => this.ask('acknowledge', { pid }))
  }

  /** A keeper of an older protocol has died: this one takes its programs over, and its leases with them. */
  async succeed(former: KeeperSide): Promise<void> {
    const { programs } = await this.ask('recover', {})
    for (const state of programs) this.#know(state)
    await this.#kernel?.keeperGone(former.#identity.id, this.#identity.id)
    if (this.#kernel !== undefined) await this.clearStrays(this.#kernel)
  }

  /** One question to the keeper, now. Rejects with `LinkLost` when it is not there. */
  ask<Name extends AskName>(name: Name, asked: Asks[Name][0]): Promise<Asks[Name][1]> {
    return this.#link?.ask(name, asked) ?? Promise.reject(new LinkLost())
  }

  /** How the end that was asked for went, if one was. */
  async endAnswer(pid: Pid): Promise<EndAnswer | undefined> {
    try {
      return await this.#endings.get(pid)
    } catch (error) {
      // It is asked for again when there is a keeper.
      if (error instanceof LinkLost) return undefined
      throw error
    }
  }

  runs(pid: Pid): boolean {
    return this.#running.has(pid)
  }

  /** Calls `grew` when the log of `pid` has grown. A connection that ends counts as growth: look for yourself. */
  follow(pid: Pid, grew: () => void): () => void {
    const followers = this.#followers.get(pid) ?? new Set()
    followers.add(grew)
    this.#followers.set(pid, followers)
    if (followers.size === 1) this.#inBackground(`following ${pid}`, () => this.#tellOf(pid, true).then(grew))
    return () => {
      followers.delete(grew)
      if (followers.size > 0 || this.#followers.get(pid) !== followers) return
      this.#followers.delete(pid)
      this.#inBackground(`following ${pid}`, () => this.#tellOf(pid, false))
    }
  }

  /**
   * Programs that no process stands for any more: their end is in the store already, or somebody else settled them while
   * nobody was here. What still runs of them is ended for certain.
   */
  async clearStrays(kernel: Kernel): Promise<void> {
    for (const [pid, state] of [...this.#told]) {
      if (this.#running.has(pid)) continue
      const row = await kernel.edges.store.ask({ ask: 'process', pid: pid as Pid })
      if (row !== null && !hasEnded(row.record) && row.holder === this.#identity.id) continue
      if (state.state === 'running') await this.ask('end', { pid, signal: 'SIGKILL', graceMs: 1 })
      this.#told.delete(pid)
      await this.ask('acknowledge', { pid })
    }
  }

  /** In order. A keeper with nothing to keep goes too. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#link?.ask('leave', {}).catch((error: unknown) => {
      if (!(error instanceof LinkLost)) throw error
    })
    this.#link?.close()
    this.#spares.close()
  }

  /** What became of it: begun now, or before. At most once, whoever asks how often. */
  async #begin(work: Work, kernel: Kernel): Promise<ProgramState> {
    const { pid } = work.record
    for (;;) {
      const told = this.#told.get(pid)
      if (told !== undefined) return told
      try {
        const known = work.record.program === null ? null : await this.ask('state', { pid })
        if (known !== null) return known
        if (work.record.program !== null) return lost(pid)
        const plan = await this.#options.plan(work.record, kernel)
        return await this.ask('spawn', { pid, fence: work.fence().fence, plan })
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        await this.#untilUp()
      }
    }
  }

  #untilUp(): Promise<void> {
    if (this.#link !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenUp.push(resolve)
    })
  }

  #asked(running: Running, request: Request): void {
    const { pid } = running.record
    if (request.type === 'stop') {
      running.stop = request
      const ending = this.ask('end', { pid, ...this.#options.ends(running.record, request) })
      this.#endings.set(pid, ending)
      this.#inBackground(`ending ${pid}`, () => ending.finally(() => this.#endedLately(pid, ending)))
      return
    }
    running.paused = request.type === 'pause'
    this.#inBackground(`${request.type} of ${pid}`, () => this.ask(request.type, { pid }))
  }

  /** Whoever waits for the process's end still wants to know; nobody does long after. */
  #endedLately(pid: Pid, ending: Promise<EndAnswer>): void {
    setTimeout(() => {
      if (this.#endings.get(pid) === ending) this.#endings.delete(pid)
    }, ENDINGS_KEPT_MS).unref()
  }

  #heard(tell: Tell): void {
    switch (tell.tell) {
      case 'ended':
        this.#know(tell.state)
        return
      case 'grew':
        this.#wake(tell.pid as Pid)
        return
      case 'trouble':
        this.#options.onTrouble(
          new Error(tell.message),
          tell.pid === null ? 'keeping' : `keeping ${tell.pid}`,
        )
    }
  }

  #know(state: ProgramState): void {
    const pid = state.pid as Pid
    this.#told.set(pid, state)
    if (state.state !== 'running') this.#running.get(pid)?.ended(state)
    this.#wake(pid)
  }

  #wake(pid: Pid): void {
    for (const grew of this.#followers.get(pid) ?? []) grew()
  }

  #lost(): void {
    this.#link = undefined
    for (const pid of this.#followers.keys()) this.#wake(pid)
    if (!this.#closed) this.#inBackground('reaching the keeper', () => this.#reachAgain())
  }

  async #reachAgain(): Promise<void> {
    for (let delay = RETRY_MS; !this.#closed; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      try {
        let over = false
        const reached = await this.#options.reach({
          onTell: (tell) => this.#heard(tell),
          onLost: () => {
            if (over) this.#lost()
            over = true
          },
        })
        if (reached === undefined) {
          await this.#options.gone?.(this)
          return
        }
        await this.#reached(reached)
        // Lost again while it was being settled in.
        if (over) this.#lost()
        over = true
        return
      } catch (error) {
        if (this.#closed) return
        this.#options.onTrouble(error, 'reaching the keeper')
        await new Promise((resolve) => setTimeout(resolve, delay))
      }
    }
  }

  /** The same keeper, or its successor: leases first, then what became of the programs, then what they were asked. */
  async #reached({ link, hello }: Reached): Promise<void> {
    const former = this.#identity.id
    this.#identity = hello.keeper
    if (hello.keeper.id !== former) await this.#kernel?.keeperChanged(former, this)
    this.#link = link
    const there = new Map(hello.programs.map((state) => [state.pid as Pid, state]))
    for (const state of hello.programs) this.#know(state)
    for (const [pid, running] of this.#running) {
      const state = there.get(pid)
      if (state === undefined && running.begun) running.ended(lost(pid))
      if (state?.state !== 'running') continue
      if (running.stop !== undefined) this.#asked(running, running.stop)
      if (running.paused !== state.paused) this.#asked(running, { type: running.paused ? 'pause' : 'resume' })
    }
    for (const pid of this.#followers.keys())
      this.#inBackground(`following ${pid}`, () => this.#tellOf(pid, true))
    for (const up of this.#whenUp.splice(0)) up()
    if (this.#kernel !== undefined) await this.clearStrays(this.#kernel)
  }

  /** A log that does not grow any more needs no telling: then the keeper knows nothing of it. */
  async #tellOf(pid: Pid, on: boolean): Promise<void> {
    try {
      await this.ask('follow', { pid, on })
    } catch (error) {
      if (!(error instanceof KeeperRefused)) throw error
    }
  }

  /** What fails because the connection ended is done again when there is another. */
  #inBackground(doing: string, task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      if (!(error instanceof LinkLost)) this.#options.onTrouble(error, doing)
    })
  }
}

function stopOf({ stop }: Running): Stop | undefined {
  return stop
}

function lost(pid: Pid): Ended {
  return { state: 'lost', pid, program: null, evidence: 'keeper_lost', outputEnd: 0 }
}

function programOf({ program }: Extract<ProgramState, { state: 'running' }>): Program {
  const { osPid, startTime, boot, group, tree, memoryBy } = program
  return { osPid, startTime, boot, group, tree, memoryBy }
}

/** Rejects when this kernel closes or has lost the lease: then the program's end is somebody else's to write. */
function goneOf(work: Work): { promise: Promise<never>; done: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const check = () => {
    const why = (work.signal.reason as { why?: string } | undefined)?.why
    if (why === 'shutdown' || why === 'lease_lost') reject(work.signal.reason)
  }
  if (work.signal.aborted) check()
  work.signal.addEventListener('abort', check)
  return { promise, done: () => work.signal.removeEventListener('abort', check) }
}

function tooMany(most: number): Refusal {
  return refusal(
    'too_many_commands',
    `${most} commands are running, and no more may.`,
    'End one that is not needed, or raise the limit.',
  )
}
