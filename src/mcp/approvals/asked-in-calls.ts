import { type InputRequests, inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { decisionText } from '../../verbs/approval-text.ts'
import type { McpClient } from '../client.ts'
import { InputRequired } from '../input-required.ts'
import { rootsAgain } from '../roots.ts'
import { answerIn, formOf } from './elicitation.ts'
import { findApproval, findPending } from './find-approval.ts'
import { answerAs, isAskedOf } from './person-here.ts'
import {
  NONE_TAKEN,
  type PromptCall,
  type Prompts,
  type TakenAnswers,
  type Waiting,
  type WaitingCall,
} from './prompts.ts'
import { isSettledWithin } from './until-settled.ts'

const KEY = 'approval:'

/**
 * Prompts of the modern era. A server sends no requests there: a call that waits is answered with the question, and the client
 * repeats the call with the answer. An answer counts only where a person sits, and only for approvals of the own session.
 */
export class AskedInCalls implements Prompts {
  readonly #client: Pick<McpClient, 'person'>

  constructor(client: Pick<McpClient, 'person'>) {
    this.#client = client
  }

  /** The next call that waits for it asks. */
  afterStart(): void {}

  async beforeWait(waiting: Waiting, { ctx, session, acting, waitMs }: WaitingCall): Promise<void> {
    const { approval: id } = waiting
    if (session.dismissed.has(id)) return
    const person = (await this.#client.person?.()) ?? null
    const approval = person === null ? null : await findPending(acting, id)
    if (person === null || approval === null || !isAskedOf(approval, person.name)) return
    const form = formOf(approval)
    if (form === null) return
    const { now } = await acting.whoami()
    const dueMs = Math.max(0, (approval.pushAt ?? 0) - now)
    if (dueMs > waitMs) return
    const { signal } = ctx.mcpReq
    if (dueMs > 0 && (await isSettledWithin(acting, waiting, dueMs, signal))) return
    const inputRequests: InputRequests = {
      ...rootsAgain(ctx),
      [`${KEY}${id}`]: inputRequired.elicit(form),
    }
    throw new InputRequired(inputRequests)
  }

  async takeAnswers({ ctx, session }: PromptCall): Promise<TakenAnswers> {
    const responses = ctx.mcpReq.inputResponses ?? {}
    const ids = Object.keys(responses).flatMap((key) => (key.startsWith(KEY) ? [key.slice(KEY.length)] : []))
    const person = ids.length === 0 ? null : ((await this.#client.person?.()) ?? null)
    if (person === null) return NONE_TAKEN
    const pids: string[] = []
    const notes: string[] = []
    for (const id of ids) {
      // As the session: an approval of another session does not exist for it.
      const approval = await findApproval(await session.acting(), id)
      if (approval === null || !isAskedOf(approval, person.name)) continue
      pids.push(approval.pid)
      const response = inputResponse(responses, `${KEY}${id}`)
      const content =
        response.kind === 'elicit' && response.action === 'accept' ? response.content : undefined
      const answer = answerIn(approval, content)
      if (answer === null) {
        session.dismissed.set(id, true)
        notes.push(
          `The person at this client did not answer ${id}: it still waits, and can be answered elsewhere.`,
        )
        continue
      }
      const settled = await answerAs(person, id, answer)
      if (settled.type === 'settled_before')
        notes.push(`${id} was settled before this answer: ${decisionText(settled.approval)}.`)
    }
    return { pids, notes }
  }
}
