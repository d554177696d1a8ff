import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { ReeveError } from '../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { type AnswerVerbs, type Approval, answerFor, permissionForm, titleOf } from './permission-forms.ts'
import { isReeveCode, requestError } from './request-errors.ts'
import type { AcpSession } from './session.ts'

/** The person at the editor. */
export interface PersonHere {
  readonly name: `human:${string}`
  /** The verbs in the name of that person, as far as an answer through an editor reaches. */
  readonly answering: AnswerVerbs
}

export interface PermissionParts {
  readonly reeve: ReeveVerbs
  readonly session: AcpSession
  /** Null: nobody is known to sit at the editor, and requests are answered elsewhere. */
  readonly person: PersonHere | null
  readonly ask: (request: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>
}

type Event = OutputOf<'changes'>['events'][number]

interface Asked {
  readonly pid: string
  readonly settled: AbortController
}

const PAGE = 100

/**
 * Asks the person at the editor for everything that waits below an agent. Each request is asked about once; one that is settled or
 * withdrawn elsewhere is cancelled at the editor. Approvals are stored, so an unanswered one stays in the queue.
 */
export class Permissions {
  readonly #parts: PermissionParts
  readonly #asked = new Map<string, Asked>()

  constructor(parts: PermissionParts) {
    this.#parts = parts
  }

  /** Follows the requests from a position of the change feed on. Resolves when the session is closed or cannot be followed. */
  async follow(root: string, position: number): Promise<void> {
    const { signal } = this.#parts.session
    try {
      for (let after: number | null = position; after !== null && !signal.aborted; ) {
        await this.#askPending()
        after = await this.#followFrom(root, after)
      }
    } catch (error) {
      if (!signal.aborted)
        await this.#say(`Requests are not shown here any more: ${requestError(error).message}`)
    } finally {
      for (const { settled } of this.#asked.values()) settled.abort()
    }
  }

  /** Returns the position to go on from after a gap; null if it is over. */
  async #followFrom(root: string, after: number): Promise<number | null> {
    const { reeve, session } = this.#parts
    const filter = { root, status: 'any' } as const
    try {
      for await (const event of reeve.follow({ after, filter }, { signal: session.signal }))
        await this.#heard(event)
      return null
    } catch (error) {
      const prunedThrough = error instanceof ReeveError ? error.details['prunedThrough'] : undefined
      if (typeof prunedThrough === 'number') return prunedThrough
      throw error
    }
  }

  async #heard({ type, payload, pid }: Event): Promise<void> {
    const named = (payload as { readonly approval?: string } | null)?.approval
    if (type === 'approval_requested' && named !== undefined) await this.#askNamed(named)
    if (type === 'approval_settled' && named !== undefined) this.#settle(named)
    // The end of a process withdraws its request.
    if (type === 'ended') for (const [id, asked] of this.#asked) if (asked.pid === pid) this.#settle(id)
  }

  #settle(id: string): void {
    this.#asked.get(id)?.settled.abort()
    this.#asked.delete(id)
  }

  async #askPending(): Promise<void> {
    const pending: Approval[] = []
    for (let after: number | null | undefined; after !== null; ) {
      const place: { after?: number } = after === undefined ? {} : { after }
      const page: OutputOf<'approvals'> = await this.#parts.reeve.approvals({ limit: PAGE, ...place })
      pending.push(...page.approvals)
      after = page.next
    }
    const isPending = new Set(pending.map(({ id }) => id))
    for (const id of this.#asked.keys()) if (!isPending.has(id)) this.#settle(id)
    for (const approval of pending) this.#begin(approval)
  }

  async #askNamed(id: string): Promise<void> {
    try {
      const { approval } = await this.#parts.reeve.approval({ id })
      if (approval.state === 'pending') this.#begin(approval)
    } catch (error) {
      if (!isReeveCode(error, 'approval_unknown')) throw error
    }
  }

  #begin(approval: Approval): void {
    const { pid, request, person } = approval
    const { session, person: here } = this.#parts
    const isBelow = pid === session.pid || request.ancestors.includes(session.pid)
    const isForOther = person !== null && here !== null && `human:${person}` !== here.name
    if (!isBelow || isForOther || request.reviewer !== null || this.#asked.has(approval.id)) return
    const settled = new AbortController()
    this.#asked.set(approval.id, { pid, settled })
    this.#ask(approval, settled.signal).catch(async (error: unknown) => {
      if (!settled.signal.aborted && !session.signal.aborted)
        await this.#say(`${requestError(error).message} ${howToAnswer(approval)}`)
    })
  }

  /** Closing the question is no answer. */
  async #ask(approval: Approval, settled: AbortSignal): Promise<void> {
    const { reeve, session, person, ask } = this.#parts
    const { owner } = await reeve.show({ pid: approval.pid })
    // The editor must know the call before it is asked about it.
    await session.caughtUp()
    const call = session.updates.openCall(owner.toolCall ?? '')
    const form = permissionForm(session.pid, approval, call)
    if (person === null || form === null) {
      await this.#say(`${titleOf(approval)}: ${howToAnswer(approval)}`)
      return
    }
    if (settled.aborted) return
    const { outcome } = await ask(form, AbortSignal.any([settled, session.signal]))
    if (outcome.outcome !== 'selected' || settled.aborted) return
    const answer = answerFor(approval, outcome.optionId)
    if (answer === null) throw new Error(`${outcome.optionId} was not offered.`)
    await answer(person.answering, approval.id)
    if (call !== undefined)
      await session.send({
        sessionUpdate: 'tool_call_update',
        toolCallId: call.toolCallId,
        status: 'in_progress',
      })
  }

  async #say(text: string): Promise<void> {
    const { session } = this.#parts
    await session.send(session.updates.notice('warning', text)).catch(() => {})
  }
}

function howToAnswer({ id, request }: Approval): string {
  if (request.type === 'question') return `It waits for your answer: reeve reply ${id} "…"`
  return `It waits for your answer: reeve approve ${id}, or reeve deny ${id}.`
}
