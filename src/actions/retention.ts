import type { Commands } from '../command/commands.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import { sweepBlobs } from '../kernel/blobs.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type PruneBatch, type PruneOptions, pruneInBatches } from '../kernel/prune.ts'
import { pruneAudit } from '../kernel/prune-audit.ts'
import { pruneEarlierSegments } from '../kernel/prune-earlier-segments.ts'

/** How long ended processes are kept, with their events, notices and output; and how long the audit is. */
export interface RetentionLimits {
  /** Processes that ended longer ago are pruned. */
  readonly maxAgeMs?: number
  /** Beyond this number, the processes that ended first are pruned. */
  readonly maxEnded?: number
  /**
   * Tool calls of a live agent that ended longer ago are pruned when its session is compacted, unless the new segment still has them.
   * Without it they are kept as other ended processes are.
   */
  readonly toolCallMaxAgeMs?: number
  /** Entries of the audit that are older are removed. */
  readonly auditMaxAgeMs?: number
  /** Beyond this number, the oldest entries of the audit are removed. */
  readonly auditMaxEntries?: number
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

/** A sweep reads the row of every blob. So much later than they may go, blobs without a reference do no harm. */
const SWEEP_BLOBS_MS = 24 * 60 * 60_000

/**
 * Removes ended processes together with their output: periodically by its limits, on request, and tool calls of an agent when its session is
 * compacted. Also sweeps blobs, with the first prune of a kernel and then daily.
 */
export class Retention {
  readonly limits: RetentionLimits
  /** The last time that processes were pruned here. */
  lastPrune: LastPrune | null = null
  readonly #parts: RetentionParts
  #timer: NodeJS.Timeout | undefined
  #unsubscribe = () => {}
  #pruning: Promise<void> = Promise.resolve()
  /** The prunes after compactions, one after the other. */
  #pruningCalls: Promise<void> = Promise.resolve()
  #blobsSweptAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(parts: RetentionParts) {
    this.#parts = parts
    this.limits = parts.limits
  }

  /** Applies the limits now and periodically, and after each compaction. */
  start(everyMs: number): void {
    const { toolCallMaxAgeMs } = this.limits
    if (toolCallMaxAgeMs !== undefined)
      this.#unsubscribe = this.#parts.kernel.feed.onAll((events) => {
        for (const event of events) if (isCompaction(event)) this.#compacted(event.pid, toolCallMaxAgeMs)
      })
    const apply = async () => {
      const { maxAgeMs, maxEnded } = this.limits
      if (maxAgeMs !== undefined || maxEnded !== undefined)
        await this.#try('pruning ended processes', () => this.#drain(this.prune(this.#limitsNow())))
      await this.#try('pruning the audit', () => this.#pruneAudit())
      await this.#try('sweeping blobs', () => this.#sweepBlobs())
      if (this.#isClosed) return
      this.#timer = setTimeout(() => this.#run(apply), everyMs)
      this.#timer.unref()
    }
    this.#run(apply)
  }

  prune(options: PruneOptions): AsyncGenerator<PruneBatch> {
    return this.#withOutput(pruneInBatches(this.#parts.kernel.edges, options))
  }

  /** Removes the output of a batch after its commit: after a crash in between, housekeeping removes the output. */
  async *#withOutput(batches: AsyncGenerator<PruneBatch>): AsyncGenerator<PruneBatch> {
    const { kernel, commands } = this.#parts
    let count = 0
    for await (const batch of batches) {
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
    this.#unsubscribe()
    await Promise.all([this.#pruning, this.#pruningCalls])
  }

  #compacted(agent: Pid, maxAgeMs: number): void {
    const { edges } = this.#parts.kernel
    this.#pruningCalls = this.#pruningCalls.then(() =>
      this.#try(`pruning tool calls of ${agent}`, async () => {
        if (this.#isClosed) return
        const endedBefore = edges.clock.now() - maxAgeMs
        await this.#drain(this.#withOutput(pruneEarlierSegments(edges, agent, endedBefore)))
      }),
    )
  }

  async #try(doing: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!this.#isClosed) this.#parts.onTrouble(error, doing)
    }
  }

  async #pruneAudit(): Promise<void> {
    const { auditMaxAgeMs, auditMaxEntries } = this.limits
    if (this.#isClosed || (auditMaxAgeMs === undefined && auditMaxEntries === undefined)) return
    const { edges, id } = this.#parts.kernel
    const limits = {
      ...(auditMaxAgeMs === undefined ? {} : { before: edges.clock.now() - auditMaxAgeMs }),
      ...(auditMaxEntries === undefined ? {} : { keep: auditMaxEntries }),
      makesEntry: true,
    } as const
    await pruneAudit(edges, limits, { by: `kernel:${id}`, isOpen: () => !this.#isClosed })
  }

  async #sweepBlobs(): Promise<void> {
    const { edges } = this.#parts.kernel
    const now = edges.clock.now()
    if (this.#isClosed || now - this.#blobsSweptAt < SWEEP_BLOBS_MS) return
    await sweepBlobs(edges)
    this.#blobsSweptAt = now
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

function isCompaction(event: StoredEvent): boolean {
  const known = knownEvent(event)
  return known?.type === 'segment_begun' && known.payload.why === 'compaction'
}
