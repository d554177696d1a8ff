import { messageOf } from '../base/error-text.ts'
import { LeftBehind } from './left-behind.ts'
import { FailedStart } from './program/check-spawn-plan.ts'
import type { LiveFiles, SettledState } from './program/live-files.ts'
import { prepare } from './program/prepare.ts'
import type { Program, ProgramEvents } from './program/program.ts'
import type { ProgramContext } from './program/program-context.ts'
import { ProgramTree } from './program/program-tree.ts'
import { start, storedSpawnPlan } from './program/start.ts'
import { markerOf } from './protocol/data-folder-paths.ts'
import type { Asks, EndAnswer, Tell } from './protocol/messages.ts'
import type { KeeperIdentity, ProgramIdentity, ProgramState, Usage } from './protocol/program-state.ts'
import type { SpawnPlan } from './protocol/spawn-plan.ts'
import { SettledStates } from './settled-states.ts'
import { markedPids } from './tree/members.ts'
import { ProcTable } from './tree/proc-table.ts'

/** The services of the keeper that the table of programs uses. */
export interface ProgramsContext extends ProgramContext {
  readonly keeper: KeeperIdentity
  readonly live: LiveFiles
  /** Whether a daemon is connected, which gets each end at once. */
  hasDaemon(): boolean
  tell(tell: Tell): void
  grew(pid: string, end: number): void
  /** A program came, ended or closed. */
  changed(): void
}

/**
 * All programs that this keeper knows of. One that has ended is *settled*: its state is on disk, until the daemon has
 * acknowledged it. It stays *present* beside that while descendants hold its output open.
 */
export class Programs {
  readonly #context: ProgramsContext
  readonly #present = new Map<string, Program>()
  readonly #settled: SettledStates
  readonly #left: LeftBehind
  readonly #starting = new Map<string, Promise<ProgramState>>()
  /** An earlier keeper had them, and they could not be taken over yet. */
  readonly #untaken = new Map<string, Untaken>()

  constructor(context: ProgramsContext) {
    this.#context = context
    const { live, cgroups } = context
    const trouble = (pid: string, message: string) => context.trouble(pid, message)
    this.#settled = new SettledStates({
      live,
      hasDaemon: () => context.hasDaemon(),
      trouble,
      changed: () => context.changed(),
    })
    this.#left = new LeftBehind({ live, cgroups, trouble })
  }

  /** Whether this keeper is not needed: the next one reads settled states from disk. */
  get isEmpty(): boolean {
    return this.count + this.#settled.unwrittenCount === 0
  }

  get count(): number {
    return this.#present.size + this.#starting.size + this.#untaken.size
  }

  /** Includes programs that have ended while descendants may still write. */
  get(pid: string): Program | undefined {
    return this.#present.get(pid)
  }

  /** Includes programs that are being started, and settled ones. */
  knows(pid: string): boolean {
    return this.#present.has(pid) || this.#settled.has(pid) || this.#starting.has(pid)
  }

  isSettled(pid: string): boolean {
    return this.#settled.has(pid)
  }

  stateOf(pid: string): ProgramState | null {
    const settled = this.#settled.get(pid)
    if (settled !== undefined) return settled
    const program = this.#present.get(pid)
    return program?.isRunning === true ? program.state : (this.#untaken.get(pid)?.state ?? null)
  }

  states(): ProgramState[] {
    const running = [...this.#present.values()].filter(({ isRunning }) => isRunning)
    const untaken = [...this.#untaken.values()].map(({ state }) => state)
    return [...running.map(({ state }) => state), ...untaken, ...this.#settled.all()]
  }

  /** The programs of an earlier keeper that could not be taken over yet, and why. */
  untaken(): Untaken[] {
    return [...this.#untaken.values()]
  }

  settled(): SettledState[] {
    return this.#settled.all()
  }

  /** The daemon is gone: reports the growth of logs no longer. */
  unfollow(): void {
    for (const program of this.#present.values()) program.follow(false)
  }

  spawn(
    pid: string,
    fence: number,
    plan: SpawnPlan,
    fifos: readonly string[],
  ): ProgramState | Promise<ProgramState> {
    const known = this.stateOf(pid) ?? this.#starting.get(pid)
    if (known !== undefined) return known
    const starting = this.#spawn(pid, fence, plan, fifos).finally(() => {
      this.#starting.delete(pid)
      this.#context.changed()
    })
    this.#starting.set(pid, starting)
    return starting
  }

  /** Ends a program and its tree; if the program has ended, its remaining descendants. Null: the pid is unknown. */
  async end({ pid, signal, graceMs, program }: Asks['end'][0]): Promise<EndAnswer | null> {
    const present = this.#present.get(pid)
    if (present !== undefined) return present.end(signal, graceMs, 'asked')
    const settled = this.#settled.get(pid)
    if (settled?.state === 'failed_start') return { how: 'already_gone' }
    const identity = settled === undefined ? this.#identityOf(pid, program) : settled.program
    if (identity === undefined) return null
    if (identity === null) return { how: 'already_gone' }
    const { homeId, cgroups } = this.#context
    const tree = new ProgramTree(identity, markerOf(homeId, pid), cgroups)
    return tree.end({ signal, graceMs })
  }

  /** The pids of programs that have ended and left OS processes running. */
  leftovers(): string[] {
    const table = ProcTable.read(0)
    const ended = [...this.#present.values()].filter((program) => !program.isRunning)
    const found = new Set([
      ...ended.filter(({ tree }) => !tree.isEmpty(table)).map(({ pid }) => pid),
      ...this.#left.pids(),
      ...markedPids(this.#context.homeId, table),
    ])
    return [...found].filter((pid) => !this.#starting.has(pid) && this.stateOf(pid)?.state !== 'running')
  }

  usages(pids: readonly string[]): Record<string, Usage | null> {
    // One scan of /proc for all pids; markers are read when they are needed.
    const table = ProcTable.read(Number.POSITIVE_INFINITY)
    const usageOf = (pid: string) => {
      const settled = this.#settled.get(pid)
      if (settled !== undefined) return settled.state === 'exited' ? settled.exit.usage : null
      return this.#present.get(pid)?.tree.usage(table) ?? null
    }
    return Object.fromEntries(pids.map((pid) => [pid, usageOf(pid)]))
  }

  acknowledge(pid: string): void {
    const settled = this.#settled.get(pid)
    if (settled === undefined) return
    this.#settled.delete(pid)
    if (settled.state !== 'failed_start' && settled.program !== null && !this.#present.has(pid))
      this.#left.remember(pid, settled.program)
    this.#context.live.forget(pid)
    this.#context.changed()
  }

  /** Records and reports the events of a program, whether it was started or taken over. */
  eventsOf(pid: string): ProgramEvents {
    return {
      ended: (state) => this.settle(state),
      closed: () => {
        const program = this.#present.get(pid)
        this.#present.delete(pid)
        if (program !== undefined && !this.#settled.has(pid)) this.#left.remember(pid, program.tree.identity)
        this.#context.changed()
      },
      grew: (end) => this.#context.grew(pid, end),
      heldBackChanged: (heldBack) => this.#context.tell({ tell: 'held', pid, heldBack }),
    }
  }

  add(program: Program): void {
    this.#present.set(program.pid, program)
    this.#untaken.delete(program.pid)
  }

  /** The program may live, so it counts as running until more is known. */
  cannotTake(pid: string, program: ProgramIdentity, message: string): void {
    const state = { state: 'running', pid, program, orphaned: true, paused: false } as const
    this.#untaken.set(pid, { state, message })
  }

  settle(state: SettledState): void {
    this.#settled.record(state)
    this.#tellEnded(state)
    this.#context.changed()
  }

  /** Adds a state that is on disk already. */
  addSettled(state: SettledState): void {
    this.#settled.add(state)
    this.#tellEnded(state)
  }

  recallLeft(): void {
    this.#left.recall()
  }

  #tellEnded(state: SettledState): void {
    this.#untaken.delete(state.pid)
    this.#context.tell({ tell: 'ended', state })
  }

  async #spawn(pid: string, fence: number, plan: SpawnPlan, fifos: readonly string[]): Promise<ProgramState> {
    const { live, keeper } = this.#context
    const prepared = await prepare(this.#context, plan)
    // No await from here until the program runs, so that no other request comes in between.
    try {
      if (!live.claim({ pid, fence, keeper, boot: keeper.boot, at: Date.now(), plan: storedSpawnPlan(plan) }))
        return Promise.reject(new Error(`${pid} was begun by another keeper`))
      const started = start(this.#context, { pid, plan, fifos }, prepared, this.eventsOf(pid))
      if (started instanceof Promise) throw await started
      this.add(started)
      this.#writeProgram(started)
      return started.state
    } catch (error) {
      const { message, remedy } = failedStart(error)
      // The name of a program, for example, may be as long as a whole request.
      const state: SettledState = {
        state: 'failed_start',
        pid,
        remedy,
        message: message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)} …` : message,
      }
      this.#settled.record(state)
      return state
    }
  }

  /** The identity of a program that is not settled: one that could not be taken over yet, or a forgotten one. */
  #identityOf(pid: string, program: Asks['end'][0]['program']): ProgramIdentity | undefined {
    const untaken = this.#untaken.get(pid)
    if (untaken !== undefined) return untaken.state.program
    const left = this.#left.identityOf(pid)
    if (left !== undefined) return left
    return program === undefined ? undefined : { ...program, tree: 'marker', cgroup: null, memoryBy: null }
  }

  /** Without this file the next keeper looks for the program by its marker. */
  #writeProgram({ pid, state }: Program): void {
    try {
      this.#context.live.writeProgram(pid, state.program)
    } catch (error) {
      this.#context.trouble(pid, `Its identity can't be written: ${messageOf(error)}.`)
    }
  }
}

const MAX_MESSAGE_CHARS = 4000

interface Untaken {
  readonly state: Extract<ProgramState, { state: 'running' }>
  readonly message: string
}

/** Nothing was forked, or the fork was killed again: the program has not begun. */
function failedStart(error: unknown): FailedStart {
  if (error instanceof FailedStart) return error
  const remedy = 'Is there space on disk, and may the data folder be written to?'
  return new FailedStart(`It can't be started: ${messageOf(error)}.`, remedy)
}
