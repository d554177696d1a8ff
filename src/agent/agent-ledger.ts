import { pause } from '../base/pause.ts'
import type { AgentAct } from '../core/agent/act.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import { ReeveError, RefusedError, StoreError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { type BlobContent, writeWithBlobs } from '../kernel/blobs.ts'
import type { Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** The record and the log of one agent, as its executor reads and writes them: every write carries the fence of the attempt. */
export class AgentLedger {
  readonly work: Work
  readonly kernel: Kernel

  constructor(work: Work, kernel: Kernel) {
    this.work = work
    this.kernel = kernel
  }

  get pid(): string {
    return this.work.record.pid
  }

  now(): number {
    return this.kernel.edges.clock.now()
  }

  async record(): Promise<ProcessRecord> {
    const row = await this.kernel.edges.store.ask({ ask: 'process', pid: this.pid })
    if (row === null)
      throw new RefusedError(refusal('unknown_pid', `There is no agent ${this.pid}.`, 'It was deleted.'))
    return row.record
  }

  async act(act: AgentAct, blobs: readonly BlobContent[] = []): Promise<ProcessRecord> {
    const { edges, agents } = this.kernel
    const { row } = await this.#whenWritable(act, () =>
      writeWithBlobs(edges, blobs, () => agents.act(this.work, act)),
    )
    return row.record
  }

  async charge(usage: Extract<AgentAct, { type: 'record_usage' }>, amounts: Amounts): Promise<void> {
    await this.#whenWritable(usage, () => this.kernel.agents.recordUsage(this.work, usage, amounts))
  }

  /**
   * What a model has answered is paid for: while the store cannot be written, for example on a full disk, it waits here. An act may be
   * repeated: its key, or its place in the turn, makes it one.
   */
  async #whenWritable<Written>(act: AgentAct, write: () => Promise<Written>): Promise<Written> {
    const { edges } = this.kernel
    const { signal } = this.work
    let first: { readonly error: StoreError; readonly at: number } | null = null
    for (;;) {
      try {
        const written = await write()
        if (first !== null) await this.#report(act, first.error, this.now() - first.at)
        return written
      } catch (error) {
        if (!(error instanceof StoreError) || !PASSING.has(error.code) || signal.aborted) throw error
        if (first === null) edges.onTrouble(error, `writing the session log of ${this.pid}`)
        first ??= { error, at: this.now() }
      }
      await pause(edges.clock, RETRY_MS, signal)
    }
  }

  /** The log says why nothing happened for a while. */
  async #report(act: AgentAct, { code, message }: StoreError, ms: number): Promise<void> {
    if (!('turn' in act)) return
    const trouble = {
      type: 'report_trouble',
      turn: act.turn,
      code,
      message: `The session log could not be written for ${Math.ceil(ms / 1_000)} s. ${message}`,
      key: `${code}:${this.now()}`,
    } as const
    try {
      await this.kernel.agents.act(this.work, trouble)
    } catch (error) {
      // The turn is over, another holder drives it, or the store fails again: then the next write waits.
      if (!(error instanceof ReeveError)) throw error
    }
  }
}

/** How soon a write is tried again. */
const RETRY_MS = 1_000

/** Trouble of the store that passes by itself, or that a person mends. */
const PASSING: ReadonlySet<string> = new Set([
  'outcome_unknown',
  'store_busy',
  'store_full',
  'store_read_only',
  'store_unavailable',
])
