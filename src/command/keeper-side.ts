import type { ResolvedAction } from '../core/capability/action.ts'
import type { Holder, Served } from '../core/lease/holder.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import type { AskName, Asks, EndAnswer, Tell } from '../keeper/protocol/messages.ts'
import type { KeeperIdentity, ProgramState, Usage } from '../keeper/protocol/program-state.ts'
import type { Executor, Keeping, Lost, Parked, StopRequest, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Attendance } from './attend/attend.ts'
import { CommandActions, type CommandActionsOptions } from './command-actions.ts'
import { CommandRoom } from './command-room.ts'
import { HeldBackOutput } from './held-back-output.ts'
import { KeeperConnection, type Listening } from './keeper-connection.ts'
import { keeperHolder } from './keeper-holder.ts'
import { LinkLost } from './keeper-link.ts'
import { KeeperPulse } from './keeper-pulse.ts'
import { LogFollowers } from './output/log-followers.ts'
import { ProgramRequests, type Running, runningOf } from './program-requests.ts'
import { ProgramStarts } from './program-starts.ts'
import { lost } from './program-state.ts'
import type { Reached } from './reach-keeper.ts'
import { ReportedPrograms } from './reported-programs.ts'
import { runCommand } from './run-command.ts'
import { UsageAsks } from './usage-asks.ts'

export interface KeeperSideOptions extends CommandActionsOptions {
  readonly homeId: string
  readonly restoredFrom: readonly string[]
  readonly fifos: string
  /** Empty for a keeper of an older protocol: it gets no new commands. */
  readonly serves: readonly Served[]
  readonly most: number
  /** Reaches the keeper again after its connection ended: the same one, or its successor. Undefined: there is none. */
  readonly reach: (listening: Listening) => Promise<Reached | undefined>
  /** The keeper has died, and has no successor. */
  readonly gone?: (keeper: KeeperSide) => Promise<void>
  /** The signal that asks this program to end, and its grace, for a request that does not say. */
  readonly ends: (record: ProcessRecord, request: StopRequest) => { signal: string; graceMs: number }
  /** Watches the output of a running command, if its spec asks for that. */
  readonly attend: (work: Work, kernel: Kernel, keeper: KeeperSide) => Attendance | null
  readonly onTrouble: (error: unknown, doing: string) => void
}

/**
 * One keeper, as this kernel sees it: the executor of its commands, whose leases the keeper holds.
 *
 * | the connection | spawn              | a stop, a pause             | a program's end                        |
 * | is up          | asked at once      | asked at once               | reported, written, acknowledged        |
 * | is down        | waits until it is up | remembered, asked when it is up | found in the next hello, then the same |
 */
export class KeeperSide implements Executor, Keeping {
  readonly keeping: Keeping = this
  readonly serves: readonly Served[]
  readonly heldBackOutput = new HeldBackOutput()
  readonly #options: KeeperSideOptions
  readonly #room: CommandRoom
  readonly #running = new Map<Pid, Running>()
  readonly #requests: ProgramRequests
  readonly #followers = new LogFollowers({
    tellOf: (pid, on) => this.ask('follow', { pid, on }),
    inBackground: (doing, task) => this.#inBackground(doing, task),
  })
  readonly #connection: KeeperConnection
  readonly #reported: ReportedPrograms
  readonly #starts: ProgramStarts
  readonly #actions: CommandActions
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
    this.#reported = new ReportedPrograms({
      ask: (name, asked) => this.ask(name, asked),
      holderId: () => this.identity.id,
      isRunning: (pid) => this.#running.has(pid),
      onCleared: (pid) => this.#starts.release(pid),
    })
    this.#actions = new CommandActions(options)
    this.#starts = new ProgramStarts({
      connection: this.#connection,
      reported: this.#reported,
      fifos: options.fifos,
      plan: options.plan,
      confirm: (work, plan, kernel) => this.#actions.confirm(work, plan, kernel),
      onTrouble: options.onTrouble,
    })
  }

  /** Undefined if there is no such keeper. */
  static async open(options: KeeperSideOptions): Promise<KeeperSide | undefined> {
    const side = new KeeperSide(options)
    return (await side.#connection.open()) ? side : undefined
  }

  get holder(): Holder {
    return keeperHolder(this.identity, this.#options.homeId)
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

  found(record: ProcessRecord): 'adopted' | 'completed' | 'abandoned' {
    return this.#reported.found(record)
  }

  /** From now on the kernel is notified of a change of keeper. */
  serve(kernel: Kernel): void {
    this.#kernel = kernel
  }

  resolve(record: ProcessRecord, kernel: Kernel): Promise<ResolvedAction> {
    return this.#actions.resolve(record, kernel)
  }

  async run(work: Work, kernel: Kernel): Promise<Ending | Lost | Parked> {
    const { pid } = work.record
    const running = runningOf(work.record)
    this.#running.set(pid, running)
    try {
      return await runCommand(work, kernel, {
        running,
        starts: this.#starts,
        requests: this.#requests,
        attend: () => this.#options.attend(work, kernel, this),
      })
    } finally {
      if (this.#running.get(pid) === running) this.#running.delete(pid)
      this.#starts.release(pid)
    }
  }

  /** The end is written: the keeper may forget the program. If the keeper cannot be reached, its next hello reports it again. */
  settled(pid: Pid): void {
    this.#reported.delete(pid)
    this.#inBackground(`acknowledging ${pid}`, () => this.ask('acknowledge', { pid }))
  }

  /** Takes over the programs and leases of a keeper of an older protocol that has died. */
  async takeOverFrom(former: KeeperSide): Promise<void> {
    const { programs } = await this.ask('recover', {})
    for (const state of programs) this.#know(state)
    await this.#kernel?.keepers.merged(former.identity.id, this.identity.id)
    if (this.#kernel !== undefined) await this.clearStrays(this.#kernel)
  }

  get restoredFrom(): readonly string[] {
    return this.#options.restoredFrom
  }

  /** False for a process that was restored from a backup: its program belongs to the folder that it ran in. */
  hasProgramOf({ placement }: ProcessRecord): boolean {
    const { homeId, restoredFrom } = this.#options
    return restoredFrom.length === 0 || placement === `folder:${homeId}`
  }

  /** Asks the keeper now. Rejects with `LinkLost` while it is not connected. */
  ask<Name extends AskName>(name: Name, asked: Asks[Name][0]): Promise<Asks[Name][1]> {
    return this.#connection.ask(name, asked)
  }

  usageOf(pid: Pid): Promise<Usage | null> {
    return this.#usages.of(pid)
  }

  /** The keeper's answer to the end that was requested, if one was. */
  endAnswer(pid: Pid): Promise<EndAnswer | undefined> {
    return this.#requests.endAnswer(pid)
  }

  get unrecordedEnds(): number {
    return this.#reported.unrecordedEnds
  }

  runs(pid: Pid): boolean {
    return this.#running.has(pid)
  }

  /** Calls `grew` when the log of `pid` may have grown; the end of the connection counts. Returns how to stop. */
  follow(pid: Pid, grew: () => void): () => void {
    return this.#followers.follow(pid, grew)
  }

  foreign(kernel: Kernel): Promise<ProgramState[]> {
    return this.#reported.foreign(kernel)
  }

  clearStrays(kernel: Kernel): Promise<void> {
    return this.#reported.clearStrays(kernel)
  }

  /** Takes leave of the keeper, which exits if it has no programs. */
  async close(): Promise<void> {
    await this.#connection.close()
    this.#starts.close()
  }

  #heard(tell: Tell): void {
    switch (tell.tell) {
      case 'ended':
        this.#know(tell.state)
        return
      case 'grew':
        this.#followers.grew(tell.pid as Pid)
        return
      case 'held':
        this.heldBackOutput.told(tell.pid as Pid, tell.heldBack)
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
    this.#reported.set(pid, state)
    if (state.state === 'running') this.#starts.openReaders(pid)
    if (state.state !== 'running') this.#running.get(pid)?.ended.resolve(state)
    this.#followers.grew(pid)
  }

  /** Moves the leases to a successor first: until it holds them, it does not count as the keeper. */
  async #settle({ hello }: Reached): Promise<void> {
    const former = this.#identity?.id
    if (former !== undefined && former !== hello.keeper.id)
      await this.#kernel?.keepers.replaced(this, former, keeperHolder(hello.keeper, this.#options.homeId))
    this.#identity = hello.keeper
  }

  /** Learns the states of the programs, then makes the requests that came while the connection was down. */
  #up({ hello }: Reached): void {
    const there = new Map(hello.programs.map((state) => [state.pid as Pid, state]))
    this.heldBackOutput.reset(hello.programs)
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

  /** A task that fails because the connection ended is repeated over the next one. */
  #inBackground(doing: string, task: () => Promise<unknown>): void {
    task().catch((error: unknown) => {
      if (!(error instanceof LinkLost)) this.#options.onTrouble(error, doing)
    })
  }
}
