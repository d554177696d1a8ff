import { StoreError } from '../core/errors.ts'
import type { Holder, Served } from '../core/lease/holder.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import type {
  AskName,
  Asks,
  EndAnswer,
  KeeperIdentity,
  ProgramState,
  SpawnPlan,
  Tell,
  Usage,
} from '../keeper/protocol/messages.ts'
import type { Executor, Keeping, Lost, StopRequest, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Attendance, Untold } from './attend/attend.ts'
import { CommandRoom } from './command-room.ts'
import { endingOf, neverBegun, withRestart } from './ending.ts'
import { HeldOutput } from './held-output.ts'
import { KeeperConnection, type Listening } from './keeper-connection.ts'
import { KeeperRefused, LinkLost } from './keeper-link.ts'
import { KeeperPulse } from './keeper-pulse.ts'
import { type LimitWatch, watchLimits } from './limit-watch.ts'
import { LogFollowers } from './log-followers.ts'
import { timeoutOf } from './plan.ts'
import { ProgramRequests, type Running, runningOf } from './program-requests.ts'
import { type Ended, failedStart, lost, outputEndOf, programOf } from './program-state.ts'
import type { Reached } from './reach-keeper.ts'
import { registerRestart } from './register-restart.ts'
import { rejectWhenGone } from './reject-when-gone.ts'
import { SpareReaders } from './spare-readers.ts'
import { storedStateOf } from './stored-state.ts'
import { UsageAsks } from './usage-asks.ts'

export interface KeeperSideOptions {
  readonly homeId: string
  readonly restoredFrom: readonly string[]
  readonly fifos: string
  /** Nothing new goes to a keeper of an older protocol. */
  readonly serves: readonly Served[]
  readonly most: number
  /** Reaches the keeper again after its connection ended: the same one, or its successor. Undefined: there is none. */
  readonly reach: (listening: Listening) => Promise<Reached | undefined>
  /** It has died, and has no successor. */
  readonly gone?: (keeper: KeeperSide) => Promise<void>
  readonly plan: (record: ProcessRecord, kernel: Kernel) => Promise<SpawnPlan>
  /** What asks this program to end, and how long it may take, for a request that does not say. */
  readonly ends: (record: ProcessRecord, request: StopRequest) => { signal: string; graceMs: number }
  /** Who looks at its output while it runs, where its spec asks for that. */
  readonly attend: (work: Work, kernel: Kernel, keeper: KeeperSide) => Attendance | null
  readonly onTrouble: (error: unknown, doing: string) => void
}

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
  readonly held = new HeldOutput()
  readonly #options: KeeperSideOptions
  readonly #room: CommandRoom
  readonly #spares: SpareReaders
  readonly #running = new Map<Pid, Running>()
  /** What the keeper has been asked to start, whether it answered or not. */
  readonly #asked = new WeakSet<Work>()
  /** What the keeper has told of programs that no run has asked for yet. */
  readonly #told = new Map<Pid, ProgramState>()
  readonly #requests: ProgramRequests
  readonly #followers = new LogFollowers({
    tellOf: (pid, on) => this.ask('follow', { pid, on }),
    inBackground: (doing, task) => this.#inBackground(doing, task),
  })
  readonly #connection: KeeperConnection
  readonly #usages = new UsageAsks(async (pids) => (await this.ask('usage', { pids })).usages)
  readonly #pulse = new KeeperPulse(() => this.ask('usage', { pids: [] }))
  #identity: KeeperIdentity | undefined
  #kernel: Kernel | undefined

  private constructor(options: KeeperSideOptions) {
    this.#options = options
    this.serves = options.serves
    this.#room = new CommandRoom({
      most: options.most,
      keeper: () => this.identity,
      begun: () => [...this.#running.values()].filter(({ begun }) => begun).length,
    })
    this.#spares = new SpareReaders(options.fifos)
    this.#requests = new ProgramRequests({
      ask: (name, asked) => this.ask(name, asked),
      ends: options.ends,
      inBackground: (doing, task) => this.#inBackground(doing, task),
    })
    this.#connection = new KeeperConnection({
      reach: options.reach,
      settle: (reached) => this.#settle(reached),
      up: (reached) => this.#up(reached),
      heard: (tell) => this.#heard(tell),
      down: () => this.#followers.wakeAll(),
      gone: async () => options.gone?.(this),
      onTrouble: options.onTrouble,
    })
  }

  /** Undefined if there is no such keeper. */
  static async open(options: KeeperSideOptions): Promise<KeeperSide | undefined> {
    const side = new KeeperSide(options)
    return (await side.#connection.open()) ? side : undefined
  }

  get holder(): Holder {
    return this.#holderOf(this.identity)
  }

  get identity(): KeeperIdentity {
    if (this.#identity === undefined) throw new Error('No keeper was reached')
    return this.#identity
  }

  get most(): number {
    return this.#room.most
  }

  get full(): Refusal {
    return this.#room.full
  }

  get available(): boolean {
    return this.#connection.isUp
  }

  /** Whether it is connected, and answers. */
  answers(): Promise<boolean> {
    return this.#pulse.answers()
  }

  found({ pid, program }: ProcessRecord): 'adopted' | 'completed' | 'abandoned' {
    const told = this.#told.get(pid)
    // A program that the keeper does not know is lost; one that was never begun is begun now.
    if (told === undefined) return program === null ? 'adopted' : 'abandoned'
    if (told.state === 'running') return told.leaving === true ? 'abandoned' : 'adopted'
    return told.state === 'lost' ? 'abandoned' : 'completed'
  }

  /** From now on its kernel hears of a change of keeper. */
  serve(kernel: Kernel): void {
    this.#kernel = kernel
  }

  /**
   * Rejects when something went wrong here, or with the store, and it is to be called once more: that is no outcome of a
   * program which may be running.
   */
  async run(work: Work, kernel: Kernel): Promise<Ending | Lost> {
    const { record } = work
    const running = runningOf(record)
    this.#running.set(record.pid, running)
    const gone = rejectWhenGone(work)
    let attendance: Attendance | null = null
    let limits: LimitWatch | null = null
    const stopListening = work.onRequest((request) => this.#requests.make(running, request))
    try {
      const begun = await Promise.race([this.#begin(running, work, kernel), gone.promise])
      if (begun === 'never') return neverBegun(running.stop)
      if (begun.state !== 'running') {
        const untold = await Promise.race([this.#attended(work, kernel, begun), gone.promise])
        return await this.#succeeded(record, endingOf(begun, running.stop, untold, timeoutOf(record)), kernel)
      }
      this.#hasBegun(running, begun.paused)
      if (record.program === null)
        await kernel.performAs(work, { type: 'program_started', program: programOf(begun) })
      attendance = this.#options.attend(work, kernel, this)
      limits = watchLimits(record, kernel, (most) => this.#requests.limit(running, most))
      const ended = await Promise.race([running.ended.promise, gone.promise])
      // Nothing can be told of it after its end is written.
      const finished = attendance === null ? null : attendance.finish(outputEndOf(ended))
      const untold = await Promise.race([finished, gone.promise])
      return await this.#succeeded(record, endingOf(ended, running.stop, untold, timeoutOf(record)), kernel)
    } finally {
      attendance?.stop()
      limits?.stop()
      stopListening()
      gone.done()
      if (this.#running.get(record.pid) === running) this.#running.delete(record.pid)
      this.#spares.release(record.pid)
    }
  }

  async #succeeded(record: ProcessRecord, ending: Ending | Lost, kernel: Kernel): Promise<Ending | Lost> {
    const restart = await registerRestart(record, ending, kernel)
    return restart === null ? ending : withRestart(ending, restart)
  }

  /** It ended while nobody looked: what it printed until then is looked at now. */
  async #attended(work: Work, kernel: Kernel, ended: Ended): Promise<Untold | null> {
    if (ended.state === 'failed_start') return null
    const attendance = this.#options.attend(work, kernel, this)
    try {
      return (await attendance?.finish(outputEndOf(ended))) ?? null
    } finally {
      attendance?.stop()
    }
  }

  /** Its end is written: the keeper may forget it. If it cannot be told now, the next hello shows it again. */
  settled(pid: Pid): void {
    this.#told.delete(pid)
    this.#inBackground(`acknowledging ${pid}`, () => this.ask('acknowledge', { pid }))
  }

  /** A keeper of an older protocol has died: this one takes its programs over, and its leases with them. */
  async takeOverFrom(former: KeeperSide): Promise<void> {
    const { programs } = await this.ask('recover', {})
    for (const state of programs) this.#know(state)
    await this.#kernel?.keeperGone(former.identity.id, this.identity.id)
    if (this.#kernel !== undefined) await this.clearStrays(this.#kernel)
  }

  get restoredFrom(): readonly string[] {
    return this.#options.restoredFrom
  }

  /** False of a process that was restored from a backup: its program belongs to the folder that it ran in. */
  hasProgramOf({ placement }: ProcessRecord): boolean {
    const { homeId, restoredFrom } = this.#options
    return restoredFrom.length === 0 || placement === `folder:${homeId}`
  }

  /** One question to the keeper, now. Rejects with `LinkLost` when it is not there. */
  ask<Name extends AskName>(name: Name, asked: Asks[Name][0]): Promise<Asks[Name][1]> {
    return this.#connection.ask(name, asked)
  }

  usageOf(pid: Pid): Promise<Usage | null> {
    return this.#usages.of(pid)
  }

  /** How the end that was asked for went, if one was. */
  endAnswer(pid: Pid): Promise<EndAnswer | undefined> {
    return this.#requests.endAnswer(pid)
  }

  /** How many programs have ended whose ends are not in the store yet. */
  get unrecordedEnds(): number {
    return [...this.#told.values()].filter(({ state }) => state !== 'running').length
  }

  runs(pid: Pid): boolean {
    return this.#running.has(pid)
  }

  /** Calls `grew` when the log of `pid` has grown. A connection that ends counts as growth: look for yourself. */
  follow(pid: Pid, grew: () => void): () => void {
    return this.#followers.add(pid, grew)
  }

  /** What the keeper has, and this store has never heard of: another store's. */
  async foreign(kernel: Kernel): Promise<ProgramState[]> {
    const foreign: ProgramState[] = []
    for (const state of this.#told.values())
      if ((await storedStateOf(kernel, state.pid as Pid)) === 'unknown') foreign.push(state)
    return foreign
  }

  /**
   * Programs that no process stands for any more: their end is in the store already, or somebody else settled them while
   * nobody was here. What still runs of them is ended for certain. What the store has never heard of is left alone.
   */
  async clearStrays(kernel: Kernel): Promise<void> {
    for (const pid of [...this.#told.keys()]) {
      if (this.#running.has(pid)) continue
      const standing = await storedStateOf(kernel, pid)
      if (standing === 'unknown') continue
      if (standing === 'over' || standing.holder !== this.identity.id) await this.#clear(pid)
    }
  }

  async #clear(pid: Pid): Promise<void> {
    // It may have ended, and been settled, since it was listed.
    const state = this.#told.get(pid)
    if (state === undefined || this.#running.has(pid)) return
    try {
      if (state.state === 'running') await this.ask('end', { pid, signal: 'SIGKILL', graceMs: 1 })
      await this.ask('acknowledge', { pid })
    } catch (error) {
      if (!(error instanceof KeeperRefused) || error.refusal.code !== 'unknown_pid') throw error
    }
    this.#told.delete(pid)
    this.#spares.release(pid)
  }

  /** In order. A keeper with nothing to keep goes too. */
  async close(): Promise<void> {
    await this.#connection.close()
    this.#spares.close()
  }

  /** What became of it: begun now, or before. At most once, whoever asks how often. `never`: it was stopped before. */
  async #begin(running: Running, work: Work, kernel: Kernel): Promise<ProgramState | 'never'> {
    const { pid, program } = work.record
    for (;;) {
      const told = this.#told.get(pid)
      if (told !== undefined) return told
      const mayHaveBegun = program !== null || this.#asked.has(work)
      if (running.stop !== undefined && !mayHaveBegun) return 'never'
      try {
        const known = mayHaveBegun ? await this.ask('state', { pid }) : null
        if (known !== null) return known
        if (program !== null) return lost(pid)
        const plan = await this.#planOf(work.record, kernel)
        if ('state' in plan) return plan
        if (running.stop !== undefined) return 'never'
        this.#asked.add(work)
        return await this.ask('spawn', {
          pid,
          fence: work.fence().fence,
          plan,
          fifos: this.#reserved(pid, plan),
        })
      } catch (error) {
        if (isBadAsk(error)) return failedStart(pid, error)
        if (!(error instanceof LinkLost)) throw error
        const up = this.#connection.untilUp()
        await (this.#asked.has(work) ? up : Promise.race([up, running.stopAsked.promise]))
      }
    }
  }

  /** What cannot be planned cannot be started. A store that is away says nothing about that. */
  async #planOf(record: ProcessRecord, kernel: Kernel): Promise<SpawnPlan | Ended> {
    try {
      return await this.#options.plan(record, kernel)
    } catch (error) {
      if (error instanceof StoreError) throw error
      return failedStart(record.pid, error)
    }
  }

  /** What was asked of it before is asked now. */
  #hasBegun(running: Running, isPaused: boolean): void {
    running.begun = true
    this.#hold(running.record.pid)
    this.#requests.makeAgain(running, isPaused)
  }

  #hold(pid: Pid): void {
    this.#orTrouble(pid, () => this.#spares.hold(pid))
  }

  #reserved(pid: Pid, { pty, output }: SpawnPlan): string[] {
    if (pty !== null || output === 'direct') return []
    return this.#orTrouble(pid, () => this.#spares.reserve(pid, output === 'tagged' ? 2 : 1)) ?? []
  }

  /** What is only held in case of trouble must not make any. */
  #orTrouble<Answer>(pid: Pid, act: () => Answer): Answer | undefined {
    try {
      return act()
    } catch (error) {
      this.#options.onTrouble(error, `holding the output of ${pid}`)
      return undefined
    }
  }

  #heard(tell: Tell): void {
    switch (tell.tell) {
      case 'ended':
        this.#know(tell.state)
        return
      case 'grew':
        this.#followers.wake(tell.pid as Pid)
        return
      case 'held':
        this.held.told(tell.pid as Pid, tell.heldBack)
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
    if (state.state === 'running') this.#hold(pid)
    if (state.state !== 'running') this.#running.get(pid)?.ended.resolve(state)
    this.#followers.wake(pid)
  }

  /** Of a successor: the leases first. Until they are its own, it is not the one that counts here. */
  async #settle({ hello }: Reached): Promise<void> {
    const former = this.#identity?.id
    if (former !== undefined && former !== hello.keeper.id)
      await this.#kernel?.keeperChanged(this, former, this.#holderOf(hello.keeper))
    this.#identity = hello.keeper
  }

  /** What became of the programs, then what they were asked meanwhile. */
  #up({ hello }: Reached): void {
    const there = new Map(hello.programs.map((state) => [state.pid as Pid, state]))
    this.held.reset(hello.programs)
    for (const state of hello.programs) this.#know(state)
    for (const [pid, running] of this.#running) {
      if (!running.begun) continue
      const state = there.get(pid)
      if (state === undefined) running.ended.resolve(lost(pid))
      else if (state.state === 'running') this.#requests.makeAgain(running, state.paused)
    }
    this.#followers.askAgain()
    const kernel = this.#kernel
    if (kernel !== undefined) this.#inBackground('clearing strays', () => this.clearStrays(kernel))
  }

  #holderOf({ id, host, boot, pidNamespace, osPid, startTime }: KeeperIdentity): Holder {
    const { homeId } = this.#options
    return {
      ...{ id, host, boot, pidNamespace, osPid, startTime },
      ...{ role: 'keeper', incarnation: homeId, serves: [] },
    }
  }

  /** What fails because the connection ended is done again when there is another. */
  #inBackground(doing: string, task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      if (!(error instanceof LinkLost)) this.#options.onTrouble(error, doing)
    })
  }
}

/** The keeper could not even read it: nothing was begun. */
function isBadAsk(error: unknown): boolean {
  return error instanceof KeeperRefused && error.refusal.code === 'bad_ask'
}
