import type { LiveFiles, SettledState } from './home/live-files.ts'
import { FailedStart } from './program/check-plan.ts'
import type { Program } from './program/program.ts'
import { keptPlan, prepare, type StartPlace, start } from './program/start.ts'
import type { KeeperIdentity, ProgramState, SpawnPlan, Tell } from './protocol/messages.ts'

/** What the table of programs needs of the keeper. */
export interface ProgramsPlace extends StartPlace {
  readonly keeper: KeeperIdentity
  readonly live: LiveFiles
  /** Whether somebody is there who will hear of an end at once. */
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

  constructor(place: ProgramsPlace) {
    this.#place = place
  }

  /** Whether there is anything that only this keeper can do. What is settled can be read from disk by the next. */
  get isEmpty(): boolean {
    return this.#present.size === 0 && this.#starting.size === 0
  }

  get running(): number {
    return this.#present.size
  }

  /** Also one that has ended, while descendants of it may still write. */
  get(pid: string): Program | undefined {
    return this.#present.get(pid)
  }

  stateOf(pid: string): ProgramState | null {
    return this.#settled.get(pid) ?? this.#present.get(pid)?.state ?? null
  }

  states(): ProgramState[] {
    const running = [...this.#present.values()].filter(({ isRunning }) => isRunning)
    return [...running.map(({ state }) => state), ...this.#settled.values()]
  }

  settled(): SettledState[] {
    return [...this.#settled.values()]
  }

  spawn(pid: string, fence: number, plan: SpawnPlan): ProgramState | Promise<ProgramState> {
    const known = this.stateOf(pid) ?? this.#starting.get(pid)
    if (known != null) return known
    const starting = this.#spawn(pid, fence, plan).finally(() => {
      this.#starting.delete(pid)
      this.#place.changed()
    })
    this.#starting.set(pid, starting)
    return starting
  }

  /** Nobody is there any more to be told of growing logs. */
  unfollow(): void {
    for (const program of this.#present.values()) program.isFollowed = false
  }

  acknowledge(pid: string): void {
    if (!this.#settled.delete(pid)) return
    this.#place.live.forget(pid)
  }

  async #spawn(pid: string, fence: number, plan: SpawnPlan): Promise<ProgramState> {
    const { live, keeper } = this.#place
    const prepared = await prepare(this.#place, plan)
    const at = Date.now()
    if (!live.claim({ pid, fence, keeper, boot: keeper.boot, at, plan: keptPlan(plan) }))
      throw new Error(`${pid} was begun by another keeper`)
    try {
      const started = start(this.#place, pid, plan, prepared, (program) => ({
        ended: (state) => this.#settle(state),
        closed: () => this.#closed(program()),
        grew: (end) => this.#place.grew(pid, end),
      }))
      const program = started instanceof Promise ? await started : started
      this.#present.set(pid, program)
      const { state } = program
      live.writeProgram(pid, state.program)
      return state
    } catch (error) {
      if (!(error instanceof FailedStart)) throw error
      const state = { state: 'failed_start', pid, message: error.message, remedy: error.remedy } as const
      this.#settled.set(pid, state)
      live.writeSettled(state, !this.#place.hasDaemon())
      return state
    }
  }

  #settle(state: SettledState): void {
    this.#settled.set(state.pid, state)
    this.#place.live.writeSettled(state, !this.#place.hasDaemon())
    this.#place.tell({ tell: 'ended', state })
    this.#place.changed()
  }

  #closed(program: Program): void {
    if (this.#present.get(program.pid) === program) this.#present.delete(program.pid)
    this.#place.changed()
  }
}
