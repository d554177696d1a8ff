import type { EndedBecause } from '../protocol/program-state.ts'
import type { StoredSpawnPlan } from './live-files.ts'
import type { ProgramLog } from './program-log.ts'
import type { ProgramTree } from './program-tree.ts'
import type { UsageLimits } from './usage-limits.ts'

type Limits = StoredSpawnPlan['limits']

interface ProgramLimitsParts {
  readonly tree: ProgramTree
  readonly log: ProgramLog
  readonly usageLimits: UsageLimits
  exceeded(because: EndedBecause): void
}

/** Notices that a program uses too much memory or CPU time, or prints too much. */
export class ProgramLimits {
  readonly #parts: ProgramLimitsParts
  #limits: Limits
  #stopWatching: () => void

  constructor(limits: Limits, parts: ProgramLimitsParts) {
    this.#parts = parts
    this.#limits = limits
    this.#stopWatching = this.#watch()
  }

  /** From now on these count. The program may have used more than that already. */
  change(limits: Pick<Limits, 'cpuSeconds' | 'outputBytes'>): void {
    this.#limits = { ...this.#limits, ...limits }
    this.#stopWatching()
    this.#stopWatching = this.#watch()
    this.checkOutput()
  }

  checkOutput(): void {
    if (this.hasPrintedTooMuch) this.#parts.exceeded('limit:output')
  }

  get hasPrintedTooMuch(): boolean {
    const { outputBytes } = this.#limits
    return outputBytes !== null && this.#parts.log.end > outputBytes
  }

  stop(): void {
    this.#stopWatching()
  }

  #watch(): () => void {
    const { usageLimits, tree, exceeded } = this.#parts
    return usageLimits.watch(tree, this.#limits, exceeded)
  }
}
