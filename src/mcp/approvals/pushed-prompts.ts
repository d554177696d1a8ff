import type { ElicitResult, McpServer } from '@modelcontextprotocol/server'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { McpClient } from '../client.ts'
import type { ClientSession } from '../session.ts'
import { answerIn, formOf } from './elicitation.ts'
import { findPending } from './find-approval.ts'
import { answerAs, isAskedOf, type PersonHere } from './person-here.ts'
import {
  NONE_TAKEN,
  type PromptCall,
  type Prompts,
  type TakenAnswers,
  type Waiting,
  type WaitingCall,
} from './prompts.ts'
import { isSettledWithin, untilSettled } from './until-settled.ts'

/** A person may be away for a day. The approval stays pending in any case. */
const ASKED_MS = 24 * 3_600_000
/** Approvals of one connection that are remembered as asked. */
const MAX_ASKED = 1_000

/**
 * Prompts of the legacy era: requests from the server to the client, beside its calls. Each approval is asked about once per
 * connection. One that is settled elsewhere is cancelled at the client.
 */
export class PushedPrompts implements Prompts {
  readonly #server: McpServer
  readonly #client: Pick<McpClient, 'person' | 'isListening'>
  readonly #asked = new BoundedMap<string, true>(MAX_ASKED)
  readonly #over = new AbortController()

  constructor(server: McpServer, client: Pick<McpClient, 'person' | 'isListening'>) {
    this.#server = server
    this.#client = client
    const { onclose } = server.server
    server.server.onclose = () => {
      onclose?.()
      this.#over.abort()
    }
  }

  afterStart(waiting: Waiting, { session }: PromptCall): void {
    if (this.#isReachable) this.#begin(waiting, session, this.#push)
  }

  /** A client over HTTP without a stream of its own gets requests on the stream of a call. */
  async beforeWait(waiting: Waiting, { ctx, session }: WaitingCall): Promise<void> {
    const inCall: Send = ({ params, options }) =>
      ctx.mcpReq.send({ method: 'elicitation/create', params }, options)
    this.#begin(waiting, session, this.#isReachable ? this.#push : inCall)
  }

  async takeAnswers(): Promise<TakenAnswers> {
    return NONE_TAKEN
  }

  get #isReachable(): boolean {
    return this.#client.isListening?.() ?? true
  }

  readonly #push: Send = ({ params, options }) =>
    this.#server.server.request({ method: 'elicitation/create', params }, options)

  #begin(waiting: Waiting, session: ClientSession, send: Send): void {
    const { approval: id } = waiting
    if (this.#asked.has(id)) return
    this.#asked.set(id, true)
    this.#ask(waiting, session, send).catch(() => {
      // Disconnected, or the daemon is unreachable: the approval stays pending, and the next wait asks again.
      this.#asked.delete(id)
    })
  }

  async #ask(waiting: Waiting, session: ClientSession, send: Send): Promise<void> {
    const person = (await this.#client.person?.()) ?? null
    if (person === null) return
    const acting = await session.watching()
    const approval = await findPending(acting, waiting.approval)
    const form = approval === null || !isAskedOf(approval, person.name) ? null : formOf(approval)
    if (approval === null || form === null) return
    const { now } = await acting.whoami()
    const dueMs = Math.max(0, (approval.pushAt ?? 0) - now)
    if (dueMs > 0 && (await isSettledWithin(acting, waiting, dueMs, this.#over.signal))) return
    if (this.#over.signal.aborted) return
    const settled = new AbortController()
    const either = AbortSignal.any([settled.signal, this.#over.signal])
    void untilSettled(() => session.watching(), waiting, either).then(() =>
      settled.abort('It was answered elsewhere.'),
    )
    try {
      const params = { mode: 'form' as const, ...form }
      const result = await send({ params, options: { signal: either, timeout: ASKED_MS } })
      await this.#take(person, approval, result)
    } catch (error) {
      if (!settled.signal.aborted) throw error
    } finally {
      settled.abort()
    }
  }

  /** Closing or declining the form is no answer: some clients decline by themselves if no user is there. */
  async #take(
    person: PersonHere,
    approval: Parameters<typeof answerIn>[0],
    { action, content }: ElicitResult,
  ): Promise<void> {
    const answer = action === 'accept' ? answerIn(approval, content) : null
    if (answer !== null) await answerAs(person, approval.id, answer)
  }
}

type Send = (request: {
  readonly params: Record<string, unknown>
  readonly options: { readonly signal: AbortSignal; readonly timeout: number }
}) => Promise<ElicitResult>
