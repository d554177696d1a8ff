import type { Answer } from '../core/approval/decide-answer.ts'
import type { ResolvedAction } from '../core/capability/action.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type ApprovalSettlement, answerApproval, expireApprovals } from './answer-approval.ts'
import { confirmAction } from './confirm-action.ts'
import type { Edges } from './edges.ts'
import type { Executor, Work } from './executor.ts'
import type { Kernel } from './kernel.ts'

/** Of one sweep; the rest has to wait for the next. */
const MAX_EXPIRED = 500

/** The approvals of one kernel: it resolves actions, compares them before they begin, and settles the answers. */
export class Approvals {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #executors: readonly Executor[]

  constructor(edges: Edges, kernel: Kernel, executors: readonly Executor[]) {
    this.#edges = edges
    this.#kernel = kernel
    this.#executors = executors
  }

  /** What a command would do here; null if this kernel runs no commands. */
  async resolve(record: ProcessRecord): Promise<ResolvedAction | null> {
    const executor = this.#executors.find(
      ({ serves, resolve }) => resolve !== undefined && serves.some(({ kind }) => kind === record.kind),
    )
    return (await executor?.resolve?.(record, this.#kernel)) ?? null
  }

  /** Whether a process that needed an approval may begin with this action; if not, it is asked about again. */
  confirm(work: Work, resolved: ResolvedAction): Promise<boolean> {
    return confirmAction(this.#edges, work, resolved)
  }

  /** The first answer settles the approval; later ones get the recorded decision. */
  async answer(asked: {
    readonly id: string
    readonly by: Actor
    readonly answer: Answer
  }): Promise<ApprovalSettlement> {
    const settled = await answerApproval(this.#edges, this.#kernel.id, asked)
    if (settled.type === 'settled') {
      this.#edges.onAudited?.()
      this.#kernel.carryOn(settled.row)
    }
    return settled
  }

  async expireDue(): Promise<void> {
    await expireApprovals(this.#edges, this.#kernel.id, MAX_EXPIRED)
  }
}
