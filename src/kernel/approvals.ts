import type { Answer } from '../core/approval/decide-answer.ts'
import { REVIEW_MS, reviewedBy } from '../core/approval/review.ts'
import type { RuleLevel } from '../core/approval/rule-level.ts'
import type { AgentClient } from '../core/authority/person.ts'
import type { ResolvedAction } from '../core/capability/action.ts'
import type { Need } from '../core/capability/need.ts'
import type { Cancel } from '../core/clock.ts'
import { RefusedError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import { isServed } from '../core/lease/holder.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import { type Actor, type ProcessRecord, targetOf } from '../core/process/record.ts'
import { answerApproval, answerByRule, refuseEarly } from './answer-approval.ts'
import { confirmAction } from './confirm-action.ts'
import { CoveredRequests } from './covered-requests.ts'
import type { Edges } from './edges.ts'
import type { Executor, Work } from './executor.ts'
import type { Kernel } from './kernel.ts'
import { performOne } from './perform.ts'
import { handOverLateReviews } from './review.ts'
import type { Edit } from './ruled-answer.ts'
import { type ApprovalSettlement, expireApprovals, unknownApproval } from './settle-approval.ts'

/** Of one sweep; the rest has to wait for the next. */
const MAX_EXPIRED = 500
/** For a time that is further away, the timer looks again on the way. */
const MAX_TIMER_MS = 600_000

/** An answer as a caller gives it. */
export interface AnswerRequest {
  readonly id: string
  readonly by: Actor
  readonly answer: Answer
  /** With `always`: where the rule is stored; in the home by default. */
  readonly level?: RuleLevel
  /**
   * With a yes: the spec that runs instead of the requested one. It is read and resolved only for an actor that may answer. Throws if
   * it is no spec of the process.
   */
  readonly edit?: (record: ProcessRecord) => JsonObject
  /** The client of an agent that passes the answer on. */
  readonly through?: AgentClient | undefined
}

/** The approvals of one kernel: it resolves actions, compares them before they begin, and settles the answers. */
export class Approvals {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #executors: readonly Executor[]
  #timer: { readonly at: number; readonly cancel: Cancel } | undefined
  readonly #covered: CoveredRequests

  constructor(edges: Edges, kernel: Kernel, executors: readonly Executor[]) {
    this.#edges = edges
    this.#kernel = kernel
    this.#executors = executors
    this.#covered = new CoveredRequests(edges, {
      isOpen: () => !kernel.isClosed,
      answer: async (id) => {
        const settled = await answerByRule(edges, kernel.id, id)
        if (settled !== undefined) this.#settled(settled)
      },
    })
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
    return confirmAction(this.#edges, work, resolved, this.#kernel.host)
  }

  /** The first answer settles the approval; later ones get the recorded decision. */
  async answer({ edit, ...asked }: AnswerRequest): Promise<ApprovalSettlement> {
    const { id, answer } = asked
    const early = edit === undefined ? undefined : await refuseEarly(this.#edges, this.#kernel.id, asked)
    if (early !== undefined) return this.#settled(early)
    const edited = edit === undefined ? {} : { edit: await this.#editOf(id, edit) }
    const settled = this.#settled(await answerApproval(this.#edges, this.#kernel.id, { ...asked, ...edited }))
    // The answer is committed, and has left a mark: its caller does not wait for the other requests that it covers.
    if (settled.type === 'settled' && answer.type === 'approve' && answer.grant === 'always')
      this.#covered.begin()
    return settled
  }

  /** Goes on, in the background, to answer the requests that an answer for every time covers. */
  settleCovered(): void {
    this.#covered.begin()
  }

  /** Resolves when no request is being answered in the background. */
  coveredSettled(): Promise<void> {
    return this.#covered.settled()
  }

  /** Ends the processes whose approval has expired, asks people instead of slow reviewers, and sets the timer for the next end. */
  async expireDue(): Promise<void> {
    const settled = await expireApprovals(this.#edges, this.#kernel.id, MAX_EXPIRED)
    for (const one of settled) this.#settled(one)
    await handOverLateReviews(this.#edges, performOne, MAX_EXPIRED)
    for (const by of ['expiresAt', 'reviewUntil'] as const) {
      const next = await this.#edges.store.ask({ ask: 'nextApprovalDue', by })
      if (next !== null) this.#expireAt(next)
    }
  }

  /** Events of the feed: the request of any kernel may be the next to expire, or to be handed over by its reviewer. */
  heard(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const due = dueBy(event)
      if (due !== null) this.#expireAt(due)
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #settled(settlement: ApprovalSettlement): ApprovalSettlement {
    // A refusal may have made an entry, too.
    if (settlement.type !== 'settled_before' || settlement.row !== undefined) this.#edges.onAudited?.()
    if (settlement.type !== 'refused' && settlement.row !== undefined) this.#kernel.carryOn(settlement.row)
    return settlement
  }

  async #editOf(id: string, edit: (record: ProcessRecord) => JsonObject): Promise<Edit> {
    const { store } = this.#edges
    const approval = await store.ask({ ask: 'approval', id })
    const row = approval === null ? null : await store.ask({ ask: 'process', pid: approval.pid })
    if (row === null) throw new RefusedError(unknownApproval(id))
    const spec = edit(row.record)
    const edited = { ...row.record, effectiveSpec: spec, spec }
    const [resolved, effects] = await Promise.all([this.resolve(edited), this.#effectsOf(edited)])
    return { spec, resolved, host: this.#kernel.host, effects }
  }

  #effectsOf(record: ProcessRecord): Promise<readonly Need[]> | undefined {
    const target = targetOf(record.kind, record.spec)
    const executor = this.#executors.find(
      ({ serves, effectsOf }) => effectsOf !== undefined && isServed(serves, record.kind, target),
    )
    return executor?.effectsOf?.(record, this.#kernel)
  }

  /** One timer, for the earliest time. A clock that jumps is noticed by the sweep. */
  #expireAt(at: number): void {
    const { clock } = this.#edges
    if (this.#kernel.isClosed || (this.#timer !== undefined && this.#timer.at <= at)) return
    this.#timer?.cancel()
    const inMs = Math.min(at - clock.now(), MAX_TIMER_MS)
    const cancel = clock.after(Math.max(0, inMs), () => {
      this.#timer = undefined
      if (!this.#kernel.isClosed)
        this.expireDue().catch((error: unknown) => this.#edges.onTrouble(error, 'expiring approvals'))
    })
    this.#timer = { at, cancel }
  }
}

/** When an event makes a request due; null if it does not. A reviewer is registered with the request that it decides about. */
function dueBy(event: StoredEvent): number | null {
  const known = knownEvent(event)
  if (known?.type === 'approval_requested') return known.payload.expiresAt
  if (known?.type !== 'registered' || reviewedBy(known.payload) === null) return null
  return event.at + REVIEW_MS
}
