import type { Commands } from '../command/commands.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type PruneBatch, type PruneOptions, pruneInBatches } from '../kernel/prune.ts'

/** How long ended processes are kept, with their events, notices and output. */
export interface RetentionLimits {
  /** Processes that ended longer ago are pruned. */
  readonly maxAgeMs?: number
  /** Beyond this number, the processes that ended first are pruned. */
  readonly maxEnded?: number
}

export interface LastPrune {
  readonly at: number
  readonly pruned: number
}

interface RetentionParts {
  readonly kernel: Kernel
  readonly commands: Commands | undefined
  readonly limits: RetentionLimits
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** Removes ended processes together with their output: periodically by its limits, and on request. */
export class Retention {
  readonly limits: RetentionLimits
  /** The last time that processes were pruned here. */
  lastPrune: LastPrune | null = null
  readonly #parts: RetentionParts
  #timer: NodeJS.Timeout | undefined
  #pruning: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: RetentionParts) {
    this.#parts = parts
    this.limits = parts.limits
  }

  /** Applies the limits now and periodically. */
  start(everyMs: number): void {
    const { maxAgeMs, maxEnded } = this.limits
    if (maxAgeMs === undefined && maxEnded === undefined) return
    const apply = async () => {
      try {
        await this.#drain(this.prune(this.#limitsNow()))
      } catch (error) {
        if (!this.#isClosed) this.#parts.onTrouble(error, 'pruning ended processes')
      }
      if (this.#isClosed) return
      this.#timer = setTimeout(() => this.#run(apply), everyMs)
      this.#timer.unref()
    }
    this.#run(apply)
  }

  /** Removes the output of a batch after its commit: after a crash in between, housekeeping removes the output. */
  async *prune(options: PruneOptions): AsyncGenerator<PruneBatch> {
    const { kernel, commands } = this.#parts
    let count = 0
    for await (const batch of pruneInBatches(kernel.edges, options)) {
      await commands?.upkeep.drop(batch.pruned)
      count += batch.pruned.length
      if (count > 0) this.lastPrune = { at: kernel.edges.clock.now(), pruned: count }
      yield batch
      if (this.#isClosed) return
    }
  }

  /** Resolves when no prune by the limits is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#pruning
  }

  #limitsNow(): PruneOptions {
    const { maxAgeMs, maxEnded } = this.limits
    return {
      ...(maxAgeMs === undefined ? {} : { endedBefore: this.#parts.kernel.edges.clock.now() - maxAgeMs }),
      ...(maxEnded === undefined ? {} : { keep: maxEnded }),
    }
  }

  #run(apply: () => Promise<void>): void {
    this.#pruning = apply()
  }

  async #drain(batches: AsyncGenerator<PruneBatch>): Promise<void> {
    for await (const _ of batches);
  }
}
