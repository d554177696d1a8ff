import type { AgentAct } from '../core/agent/act.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import { RefusedError } from '../core/errors.ts'
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
    const { row } = await writeWithBlobs(this.kernel.edges, blobs, () =>
      this.kernel.agents.act(this.work, act),
    )
    return row.record
  }

  async charge(usage: Extract<AgentAct, { type: 'record_usage' }>, amounts: Amounts): Promise<void> {
    await this.kernel.agents.recordUsage(this.work, usage, amounts)
  }
}
