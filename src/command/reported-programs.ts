import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { ProgramState } from '../keeper/protocol/program-state.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { KeeperConnection } from './keeper-connection.ts'
import { KeeperRefused } from './keeper-link.ts'

interface ReportedProgramsOptions {
  readonly ask: KeeperConnection['ask']
  /** The id under which the keeper holds leases. */
  readonly holderId: () => string
  /** Whether this kernel executes the process now. */
  readonly isRunning: (pid: Pid) => boolean
  /** The keeper has forgotten the program. */
  readonly onCleared: (pid: Pid) => void
}

/** The programs that the keeper has reported, until their ends are in the store. */
export class ReportedPrograms {
  readonly #options: ReportedProgramsOptions
  readonly #states = new Map<Pid, ProgramState>()

  constructor(options: ReportedProgramsOptions) {
    this.#options = options
  }

  get(pid: Pid): ProgramState | undefined {
    return this.#states.get(pid)
  }

  set(pid: Pid, state: ProgramState): void {
    this.#states.set(pid, state)
  }

  delete(pid: Pid): void {
    this.#states.delete(pid)
  }

  /** How many programs have ended whose ends are not in the store yet. */
  get unrecordedEnds(): number {
    return [...this.#states.values()].filter(({ state }) => state !== 'running').length
  }

  /** The state in which a starting kernel finds a process of this keeper. */
  found({ pid, program }: ProcessRecord): 'adopted' | 'completed' | 'abandoned' {
    const state = this.#states.get(pid)
    // A program that the keeper does not know is lost; one that was never begun is begun now.
    if (state === undefined) return program === null ? 'adopted' : 'abandoned'
    if (state.state === 'running') return state.leaving === true ? 'abandoned' : 'adopted'
    return state.state === 'lost' ? 'abandoned' : 'completed'
  }

  /** The programs of another store: their processes are unknown in this one. */
  async foreign(kernel: Kernel): Promise<ProgramState[]> {
    const foreign: ProgramState[] = []
    for (const state of this.#states.values())
      if ((await storedStateOf(kernel, state.pid as Pid)) === 'unknown') foreign.push(state)
    return foreign
  }

  /**
   * Ends and forgets programs that no process stands for any more: their end is in the store already, or another kernel settled
   * them while this one was away. Programs of processes that are unknown in the store are left alone.
   */
  async clearStrays(kernel: Kernel): Promise<void> {
    for (const pid of [...this.#states.keys()]) {
      if (this.#options.isRunning(pid)) continue
      const stored = await storedStateOf(kernel, pid)
      if (stored === 'unknown') continue
      if (stored === 'over' || stored.holder !== this.#options.holderId()) await this.#clear(pid)
    }
  }

  async #clear(pid: Pid): Promise<void> {
    const { ask, isRunning, onCleared } = this.#options
    // It may have ended, and been settled, since it was listed.
    const state = this.#states.get(pid)
    if (state === undefined || isRunning(pid)) return
    try {
      if (state.state === 'running') await ask('end', { pid, signal: 'SIGKILL', graceMs: 1 })
      await ask('acknowledge', { pid })
    } catch (error) {
      if (!(error instanceof KeeperRefused) || error.refusal.code !== 'unknown_pid') throw error
    }
    this.#states.delete(pid)
    onCleared(pid)
  }
}

/** What the store says of a process: its holder, that it is over, or nothing. */
async function storedStateOf(
  kernel: Kernel,
  pid: Pid,
): Promise<'over' | 'unknown' | { holder: string | null }> {
  const { store } = kernel.edges
  const row = await store.ask({ ask: 'process', pid })
  if (row !== null) return hasEnded(row.record) ? 'over' : { holder: row.holder }
  return (await store.ask({ ask: 'tombstone', pid })) === null ? 'unknown' : 'over'
}
