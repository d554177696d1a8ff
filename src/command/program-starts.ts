import { StoreError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ProgramState } from '../keeper/protocol/program-state.ts'
import type { SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import type { Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { KeeperConnection } from './keeper-connection.ts'
import { KeeperRefused, LinkLost } from './keeper-link.ts'
import type { Running } from './program-requests.ts'
import { type Ended, failedStart, lost } from './program-state.ts'
import type { ReportedPrograms } from './reported-programs.ts'
import { SpareReaders } from './spare-readers.ts'

interface ProgramStartsOptions {
  readonly connection: KeeperConnection
  readonly reported: ReportedPrograms
  readonly fifos: string
  readonly plan: (record: ProcessRecord, kernel: Kernel) => Promise<SpawnPlan>
  /** Whether the command may begin with this plan; if not, its approval is asked for again. */
  readonly confirm: (work: Work, plan: SpawnPlan, kernel: Kernel) => Promise<boolean>
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** Starts programs in the keeper, each at most once, with a spare reader for each of its output pipes. */
export class ProgramStarts {
  readonly #options: ProgramStartsOptions
  readonly #spares: SpareReaders
  /** Work whose start was requested from the keeper, answered or not. */
  readonly #asked = new WeakSet<Work>()

  constructor(options: ProgramStartsOptions) {
    this.#options = options
    this.#spares = new SpareReaders(options.fifos)
  }

  /**
   * The state of the program, begun now or before. However often it is called, it begins the program at most once. `never`: the
   * process was stopped first. `asked_again`: it is not what was approved, and waits.
   */
  async begin(running: Running, work: Work, kernel: Kernel): Promise<ProgramState | 'never' | 'asked_again'> {
    const { pid, program } = work.record
    const { connection, reported } = this.#options
    for (;;) {
      const state = reported.get(pid)
      if (state !== undefined) return state
      const mayHaveBegun = program !== null || this.#asked.has(work)
      if (running.stop !== undefined && !mayHaveBegun) return 'never'
      try {
        const known = mayHaveBegun ? await connection.ask('state', { pid }) : null
        if (known !== null) return known
        if (program !== null) return lost(pid)
        const plan = await this.#planOf(work.record, kernel)
        if ('state' in plan) return plan
        if (!(await this.#options.confirm(work, plan, kernel))) return 'asked_again'
        if (running.stop !== undefined) return 'never'
        this.#asked.add(work)
        const fifos = this.#reserve(pid, plan)
        return await connection.ask('spawn', { pid, fence: work.fence().fence, plan, fifos })
      } catch (error) {
        if (isBadAsk(error)) return failedStart(pid, error)
        if (!(error instanceof LinkLost)) throw error
        const up = connection.untilUp()
        await (this.#asked.has(work) ? up : Promise.race([up, running.stopAsked.promise]))
      }
    }
  }

  /** Holds the output pipes of a running program open. */
  openReaders(pid: Pid): void {
    this.#orTrouble(pid, () => this.#spares.openFor(pid))
  }

  release(pid: Pid): void {
    this.#spares.release(pid)
  }

  close(): void {
    this.#spares.close()
  }

  /** A failure to plan is a failed start. A store that cannot be reached is not: the start is tried again. */
  async #planOf(record: ProcessRecord, kernel: Kernel): Promise<SpawnPlan | Ended> {
    try {
      return await this.#options.plan(record, kernel)
    } catch (error) {
      if (error instanceof StoreError) throw error
      return failedStart(record.pid, error)
    }
  }

  #reserve(pid: Pid, { pty, output }: SpawnPlan): string[] {
    if (pty !== null || output === 'direct') return []
    return this.#orTrouble(pid, () => this.#spares.reserve(pid, output === 'tagged' ? 2 : 1)) ?? []
  }

  /** Spare readers only guard against trouble: a failure to open one fails no command. */
  #orTrouble<Answer>(pid: Pid, act: () => Answer): Answer | undefined {
    try {
      return act()
    } catch (error) {
      this.#options.onTrouble(error, `holding the output of ${pid}`)
      return undefined
    }
  }
}

/** The keeper could not read the question, so it began nothing. */
function isBadAsk(error: unknown): boolean {
  return error instanceof KeeperRefused && error.refusal.code === 'bad_ask'
}
