import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Page } from '../store/contract.ts'
import type { Attempt } from './attempt.ts'
import { reclaim } from './claim.ts'
import type { Edges } from './edges.ts'
import type { Kernel } from './kernel.ts'
import { perform } from './perform.ts'

/** The members of executions that adoption uses. */
interface Adopting {
  holder(): string
  running(pid: Pid): Attempt | undefined
  begin(row: ProcessRow): void
  stop(attempt: Attempt, stop: NonNullable<ProcessRecord['stopRequest']>): void
}

/** Begins processes that a holder holds and does not execute: another holder had them, or the answer to their claim was lost. */
export class Adoption {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #executions: Adopting

  constructor(edges: Edges, kernel: Kernel, executions: Adopting) {
    this.#edges = edges
    this.#kernel = kernel
    this.#executions = executions
  }

  /** Everything that a keeper holds, and that its dead predecessors held. `before` is called with each record before it begins. */
  async kept(predecessors: readonly string[], before?: (record: ProcessRecord) => void): Promise<Pid[]> {
    const adopted: Pid[] = []
    for (const holder of [this.#executions.holder(), ...predecessors])
      for await (const row of this.#heldBy(holder)) {
        before?.(row.record)
        if (await this.#keptOne(row)) adopted.push(row.record.pid)
      }
    return adopted
  }

  /** Processes of a claim whose outcome was unknown. */
  async granted(): Promise<void> {
    for await (const row of this.#heldBy(this.#executions.holder())) await this.#grantedOne(row)
  }

  async *#heldBy(holder: string): AsyncGenerator<ProcessRow> {
    let after: number | null = null
    do {
      const page: Page<ProcessRow> = await this.#edges.store.ask({ ...HELD, holder, after })
      yield* page.items
      after = page.next
    } while (after !== null)
  }

  async #keptOne(held: ProcessRow): Promise<boolean> {
    const { pid } = held.record
    const holder = this.#executions.holder()
    const row = held.holder === holder ? held : await this.#takeOver(held, holder)
    if (row === undefined || hasEnded(row.record)) return false
    const running = this.#executions.running(pid)
    if (running !== undefined) {
      running.holder = holder
      running.fenceNumber = row.fence
      return true
    }
    return this.#begin(row)
  }

  async #takeOver(held: ProcessRow, holder: string): Promise<ProcessRow | undefined> {
    const performed = await perform(this.#edges, {
      type: 'take_over',
      pid: held.record.pid,
      actor: `kernel:${this.#kernel.id}`,
      at: this.#edges.clock.now(),
      observed: { holder: held.holder, fence: held.fence },
      holder,
    })
    return performed.type === 'refused' ? undefined : performed.row
  }

  async #grantedOne(held: ProcessRow): Promise<void> {
    const { pid, attempts } = held.record
    const holder = this.#executions.holder()
    if (this.#hasRisen(pid, attempts, held.fence)) return
    // Under a fence of its own: an attempt under the former fence has ended, or is told by the new fence.
    const fence = await reclaim(this.#edges, pid, holder, attempts)
    const row = fence === null ? null : await this.#edges.store.ask({ ask: 'process', pid })
    if (fence === null || row?.fence !== fence || row.holder !== holder) return
    if (!this.#hasRisen(pid, attempts, fence)) this.#begin(row)
  }

  /** Whether it is executed already; if so, its fence rises to this one. */
  #hasRisen(pid: Pid, attempts: number, fence: number): boolean {
    const running = this.#executions.running(pid)
    if (running === undefined || running.record.attempts !== attempts) return false
    running.fenceNumber = Math.max(running.fenceNumber, fence)
    return true
  }

  /** Repeats earlier requests. The stop comes last: it resumes a paused process. */
  #begin(row: ProcessRow): boolean {
    const { pid, status, stopRequest } = row.record
    this.#executions.begin(row)
    const attempt = this.#executions.running(pid)
    if (attempt === undefined) return false
    if (status === 'paused') attempt.request({ type: 'pause' })
    if (stopRequest !== null) this.#executions.stop(attempt, stopRequest)
    return true
  }
}

const HELD = { ask: 'held', limit: 200 } as const
