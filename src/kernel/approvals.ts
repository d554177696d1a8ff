import type { Answer } from '../core/approval/decide-answer.ts'
import type { RuleLevel } from '../core/approval/rule-level.ts'
import type { AgentClient } from '../core/authority/person.ts'
import type { ResolvedAction } from '../core/capability/action.ts'
import type { Cancel } from '../core/clock.ts'
import type { JsonObject } from '../core/json/json.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type ApprovalSettlement, answerApproval, answerByRule, expireApprovals } from './answer-approval.ts'
import { confirmAction } from './confirm-action.ts'
import type { Edges } from './edges.ts'
import type { Executor, Work } from './executor.ts'
import type { Kernel } from './kernel.ts'
import { performOne } from './perform.ts'
import { handOverLateReviews } from './review.ts'
import type { Edit } from './ruled-answer.ts'
import { StoredAnswers } from './stored-answers.ts'

/** Of one sweep; the rest has to wait for the next. */
const MAX_EXPIRED = 500
const PAGE = 200
/** A sweep looks at times that are further away. */
const MAX_TIMER_MS = 60_000

/** An answer as a caller gives it. */
export interface AnswerRequest {
  readonly id: string
  readonly by: Actor
  readonly answer: Answer
  /** With `always`: where the rule is stored; in the home by default. */
  readonly level?: RuleLevel
  /** With a yes: the spec that runs instead of the requested one. It is resolved here. */
  readonly spec?: JsonObject
  /** The client of an agent that passes the answer on. */
  readonly through?: AgentClient | undefined
}

/** The approvals of one kernel: it resolves actions, compares them before they begin, and settles the answers. */
export class Approvals {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #executors: readonly Executor[]
  #timer: { readonly at: number; readonly cancel: Cancel } | undefined
  /** Where the next sweep goes on to look for requests that a rule answers. */
  #coveredAfter: number | null = null

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
    return confirmAction(this.#edges, work, resolved, this.#kernel.host)
  }

  /** The first answer settles the approval; later ones get the recorded decision. */
  async answer({ id, by, answer, level, spec, through }: AnswerRequest): Promise<ApprovalSettlement> {
    const stored = level === undefined ? {} : { level }
    const edit = spec === undefined ? {} : { edit: await this.#editOf(id, spec) }
    const settled = this.#settled(
      await answerApproval(this.#edges, this.#kernel.id, { id, by, answer, through, ...stored, ...edit }),
    )
    // The answer is committed: what it also settles is found again by the next sweep.
    if (settled.type === 'settled' && answer.type === 'approve' && answer.grant === 'always')
      await this.settleCovered(Number.POSITIVE_INFINITY).catch((error: unknown) =>
        this.#edges.onTrouble(error, `answering what the rule of ${id} covers`),
      )
    return settled
  }

  /**
   * Answers pending requests whose action a person has approved for every time, one transaction for each. Which ones these are
   * follows from the stored rules and the requests, so that a kernel that died on the way is followed by any other's sweep.
   */
  async settleCovered(pages = 1): Promise<void> {
    const { store } = this.#edges
    let after = pages === 1 ? this.#coveredAfter : null
    for (let page = 0; page < pages; page++) {
      const { items, next } = await store.ask({ ask: 'approvals', state: 'pending', after, limit: PAGE })
      const answers = new StoredAnswers(this.#edges)
      for (const { id, request } of items) {
        if (request.type !== 'permission' || !(await answers.cover(request))) continue
        const settled = await answerByRule(this.#edges, this.#kernel.id, id)
        if (settled !== undefined) this.#settled(settled)
      }
      after = next
      if (after === null) break
    }
    if (pages === 1) this.#coveredAfter = after
  }

  /** Ends the processes whose approval has expired, asks people instead of slow reviewers, and sets the timer for the next end. */
  async expireDue(): Promise<void> {
    const settled = await expireApprovals(this.#edges, this.#kernel.id, MAX_EXPIRED)
    for (const one of settled) this.#settled(one)
    await handOverLateReviews(this.#edges, performOne, MAX_EXPIRED)
    const next = await this.#edges.store.ask({ ask: 'nextApprovalDue' })
    if (next !== null) this.#expireAt(next)
  }

  /** Events of the feed: the request of any kernel may be the next to expire. */
  heard(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const known = knownEvent(event)
      if (known?.type !== 'approval_requested') continue
      const { expiresAt } = known.payload
      if (expiresAt !== null) this.#expireAt(expiresAt)
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #settled(settlement: ApprovalSettlement): ApprovalSettlement {
    if (settlement.type === 'settled') {
      this.#edges.onAudited?.()
      this.#kernel.carryOn(settlement.row)
    }
    return settlement
  }

  async #editOf(id: string, spec: JsonObject): Promise<Edit> {
    const { store } = this.#edges
    const approval = await store.ask({ ask: 'approval', id })
    const row = approval === null ? null : await store.ask({ ask: 'process', pid: approval.pid })
    const resolved = row === null ? null : await this.resolve({ ...row.record, effectiveSpec: spec, spec })
    return { spec, resolved, host: this.#kernel.host }
  }

  /** One timer, for the earliest time. A clock that jumps is noticed by the sweep. */
  #expireAt(at: number): void {
    const { clock } = this.#edges
    const inMs = at - clock.now()
    if (this.#kernel.isClosed || inMs > MAX_TIMER_MS || (this.#timer !== undefined && this.#timer.at <= at))
      return
    this.#timer?.cancel()
    const cancel = clock.after(Math.max(0, inMs), () => {
      this.#timer = undefined
      if (!this.#kernel.isClosed)
        this.expireDue().catch((error: unknown) => this.#edges.onTrouble(error, 'expiring approvals'))
    })
    this.#timer = { at, cancel }
  }
}
