import { messageOf } from '../base/error-text.ts'
import { bootId } from '../os/boot.ts'
import type { LiveFiles, SettledState } from './home/live-files.ts'
import { FailedStart } from './program/check-plan.ts'
import { prepare } from './program/prepare.ts'
import type { Program, ProgramEvents } from './program/program.ts'
import type { ProgramPlace } from './program/program-place.ts'
import { ProgramTree } from './program/program-tree.ts'
import { keptPlan, start } from './program/start.ts'
import { markerOf } from './protocol/home.ts'
import type {
  Asks,
  EndAnswer,
  KeeperIdentity,
  ProgramIdentity,
  ProgramState,
  SpawnPlan,
  Tell,
  Usage,
} from './protocol/messages.ts'
import { cgroupMembers, isLeaf } from './tree/cgroup-files.ts'
import { markedPids } from './tree/members.ts'
import { ProcTable } from './tree/proc-table.ts'

/** What the table of programs needs of the keeper. */
export interface ProgramsPlace extends ProgramPlace {
  readonly keeper: KeeperIdentity
  readonly live: LiveFiles
  /** Whether somebody is there who hears of an end at once. */
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
  readonly #place: ProgramsPlace
  readonly #present = new Map<string, Program>()
  readonly #settled = new Map<string, SettledState>()
  readonly #starting = new Map<string, Promise<ProgramState>>()
  /** Settled, but the disk has not taken it yet. */
  readonly #unwritten = new Set<string>()
  /** An earlier keeper had them, and they could not be taken over yet. */
  readonly #untaken = new Map<string, Untaken>()
  #retry: NodeJS.Timeout | null = null

  constructor(place: ProgramsPlace) {
    this.#place = place
  }

  /** Whether there is nothing that only this keeper can do. What is settled can be read from disk by the next. */
  get isEmpty(): boolean {
    return this.#present.size + this.#starting.size + this.#unwritten.size + this.#untaken.size === 0
  }

  get count(): number {
    return this.#present.size + this.#starting.size + this.#untaken.size
  }

  /** Also one that has ended, while descendants of it may still write. */
  get(pid: string): Program | undefined {
    return this.#present.get(pid)
  }

  /** Also one that is just being started, or that is only still read. */
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
    return [...running.map(({ state }) => state), ...untaken, ...this.#settled.values()]
  }

  /** Not taken over yet, and why. */
  untaken(): Untaken[] {
    return [...this.#untaken.values()]
  }

  settled(): SettledState[] {
    return [...this.#settled.values()]
  }

  /** Nobody is there any more to be told of growing logs. */
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
      this.#place.changed()
    })
    this.#starting.set(pid, starting)
    return starting
  }

  /** Of one that has ended: of what it left behind. */
  async end({ pid, signal, graceMs, program }: Asks['end'][0]): Promise<EndAnswer | null> {
    const present = this.#present.get(pid)
    if (present !== undefined) return present.end(signal, graceMs, 'asked')
    const settled = this.#settled.get(pid)
    if (settled?.state === 'failed_start') return { how: 'already_gone' }
    const identity = settled === undefined ? this.#identityOf(pid, program) : settled.program
    if (identity === undefined) return null
    if (identity === null) return { how: 'already_gone' }
    const { homeId, cgroups } = this.#place
    const tree = new ProgramTree(identity, markerOf(homeId, pid), cgroups)
    return tree.end({ signal, graceMs })
  }

  /** The pids of programs that have ended, and of whose trees OS processes live. */
  leftovers(): string[] {
    const { live, homeId } = this.#place
    const table = ProcTable.read(0)
    const ended = [...this.#present.values()].filter((program) => !program.isRunning)
    const isInUse = (pid: string) => {
      const program = live.leftOf(pid)
      return program?.boot === bootId() && hasLeft(program)
    }
    const found = new Set([
      ...ended.filter(({ tree }) => !tree.isEmpty(table)).map(({ pid }) => pid),
      ...live.lefts().filter(isInUse),
      ...markedPids(homeId, table),
    ])
    return [...found].filter((pid) => !this.#starting.has(pid) && this.stateOf(pid)?.state !== 'running')
  }

  usages(pids: readonly string[]): Record<string, Usage | null> {
    // One look for all; markers are read when they are asked for.
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
    this.#unwritten.delete(pid)
    if (settled.state !== 'failed_start' && settled.program !== null && !this.#present.has(pid))
      this.#rememberLeft(pid, settled.program)
    this.#place.live.forget(pid)
    this.#place.changed()
  }

  /** What becomes of a program is recorded, told and remembered here, wherever it came from. */
  eventsOf(pid: string): ProgramEvents {
    return {
      ended: (state) => this.settle(state),
      closed: () => {
        const program = this.#present.get(pid)
        this.#present.delete(pid)
        if (program !== undefined && !this.#settled.has(pid)) this.#rememberLeft(pid, program.tree.identity)
        this.#place.changed()
      },
      grew: (end) => this.#place.grew(pid, end),
      held: (heldBack) => this.#place.tell({ tell: 'held', pid, heldBack }),
    }
  }

  add(program: Program): void {
    this.#present.set(program.pid, program)
    this.#untaken.delete(program.pid)
  }

  /** It may live, so it counts as running until more is known. */
  cannotTake(pid: string, program: ProgramIdentity, message: string): void {
    const state = { state: 'running', pid, program, orphaned: true, paused: false } as const
    this.#untaken.set(pid, { state, message })
  }

  settle(state: SettledState): void {
    this.#record(state)
    this.addSettled(state)
    this.#place.changed()
  }

  /** It is on disk already. */
  addSettled(state: SettledState): void {
    this.#untaken.delete(state.pid)
    this.#settled.set(state.pid, state)
    this.#place.tell({ tell: 'ended', state })
  }

  /** What was forgotten by this keeper or an earlier one, with somebody in its cgroup; who is gone is so for good. */
  recallLeft(): void {
    for (const pid of this.#place.live.lefts()) {
      try {
        const program = this.#place.live.leftOf(pid)
        if (program?.boot === bootId() && hasLeft(program)) this.#removeLeaf(pid, program)
        else this.#place.live.forgetLeft(pid)
      } catch (error) {
        this.#place.trouble(pid, `What it has left behind can't be looked at: ${messageOf(error)}.`)
      }
    }
  }

  async #spawn(pid: string, fence: number, plan: SpawnPlan, fifos: readonly string[]): Promise<ProgramState> {
    const { live, keeper } = this.#place
    const prepared = await prepare(this.#place, plan)
    // From here on nothing is waited for until the program is there, so that nothing comes in between.
    try {
      if (!live.claim({ pid, fence, keeper, boot: keeper.boot, at: Date.now(), plan: keptPlan(plan) }))
        return Promise.reject(new Error(`${pid} was begun by another keeper`))
      const started = start(this.#place, { pid, plan, fifos }, prepared, this.eventsOf(pid))
      if (started instanceof Promise) throw await started
      this.add(started)
      this.#writeProgram(started)
      return started.state
    } catch (error) {
      const { message, remedy } = failedStart(error)
      // The name of a program, say, may be as long as a question may be.
      const state: SettledState = {
        ...{ state: 'failed_start', pid, remedy },
        message: message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)} …` : message,
      }
      this.#settled.set(pid, state)
      this.#record(state)
      return state
    }
  }

  /** Of one that is not settled: it could not be taken over yet, or it is forgotten, with what it was asked about. */
  #identityOf(pid: string, program: Asks['end'][0]['program']): ProgramIdentity | undefined {
    const untaken = this.#untaken.get(pid)
    if (untaken !== undefined) return untaken.state.program
    const left = this.#place.live.leftOf(pid)
    if (left !== undefined) return left
    return program === undefined ? undefined : { ...program, tree: 'marker', cgroup: null, memoryBy: null }
  }

  /** Whom it has left behind in its cgroup may have nothing else to be known by. */
  #rememberLeft(pid: string, program: ProgramIdentity): void {
    try {
      if (!hasLeft(program)) return
      this.#place.live.writeLeft(pid, program)
      this.#removeLeaf(pid, program)
    } catch (error) {
      this.#place.trouble(pid, `What it has left behind is forgotten: ${messageOf(error)}.`)
    }
  }

  #removeLeaf(pid: string, { cgroup }: ProgramIdentity): void {
    if (cgroup !== null) this.#place.cgroups?.remove(cgroup, () => this.#place.live.forgetLeft(pid))
  }

  /** Without this file the next keeper looks for the program by its marker. */
  #writeProgram({ pid, state }: Program): void {
    try {
      this.#place.live.writeProgram(pid, state.program)
    } catch (error) {
      this.#place.trouble(pid, `Its identity can't be written: ${messageOf(error)}.`)
    }
  }

  #record(state: SettledState): void {
    try {
      this.#place.live.writeSettled(state, !this.#place.hasDaemon())
      this.#unwritten.delete(state.pid)
    } catch (error) {
      if (!this.#unwritten.has(state.pid))
        this.#place.trouble(state.pid, `Its end can't be written, and is tried again: ${messageOf(error)}.`)
      this.#unwritten.add(state.pid)
      this.#retry ??= setTimeout(() => this.#recordAgain(), RETRY_MS)
    }
  }

  #recordAgain(): void {
    this.#retry = null
    for (const pid of [...this.#unwritten]) {
      const state = this.#settled.get(pid)
      if (state !== undefined) this.#record(state)
    }
    this.#place.changed()
  }
}

const RETRY_MS = 1000
const MAX_MESSAGE_CHARS = 4000

interface Untaken {
  readonly state: Extract<ProgramState, { state: 'running' }>
  readonly message: string
}

function hasLeft({ cgroup }: ProgramIdentity): boolean {
  return cgroup !== null && isLeaf(cgroup) && cgroupMembers(cgroup).some((osPid) => osPid !== process.pid)
}

/** Nothing was forked, or it has been killed again: whatever the reason, it has not begun. */
function failedStart(error: unknown): FailedStart {
  if (error instanceof FailedStart) return error
  const remedy = 'Is there space on disk, and may the data folder be written to?'
  return new FailedStart(`It can't be started: ${messageOf(error)}.`, remedy)
}
