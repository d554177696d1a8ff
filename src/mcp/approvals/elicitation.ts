import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { approvalText } from '../../verbs/approval-text.ts'
import type { Approval } from './find-approval.ts'

/** An answer that counts as a person's if it comes through an agent's client: it reaches no further than the session. */
export type ElicitedAnswer =
  | { readonly type: 'approve'; readonly grant: 'once' | 'session' }
  | { readonly type: 'deny'; readonly advice?: string }
  | { readonly type: 'reply'; readonly value: string }

type Form = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

/** A person must see the whole request. A longer one is answered elsewhere. */
const MAX_MESSAGE_CHARS = 12_000
const MAX_ADVICE_CHARS = 2_000

/** Clients show the values themselves: titles of values came with a later version of the protocol. */
const DECISIONS = {
  'approve once': { type: 'approve', grant: 'once' },
  'approve for this session': { type: 'approve', grant: 'session' },
  deny: { type: 'deny' },
} as const satisfies Readonly<Record<string, ElicitedAnswer>>
type Decision = keyof typeof DECISIONS

/** The form that asks the person; null if the request does not fit into one. */
export function formOf(approval: Approval): Form | null {
  const message = approvalText(approval)
  if (message.length > MAX_MESSAGE_CHARS) return null
  const { request } = approval
  if (request.type === 'question') {
    const title = 'Reply'
    const reply =
      request.choices === null
        ? { type: 'string' as const, title }
        : { type: 'string' as const, title, enum: [...request.choices] }
    return { message, requestedSchema: { type: 'object', properties: { reply }, required: ['reply'] } }
  }
  return {
    message: `May this run?\n${message}`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: decisionsFor(approval) },
        advice: {
          type: 'string',
          title: 'Advice',
          description: 'if you deny it: what the agent should do instead',
        },
      },
      required: ['decision'],
    },
  }
}

/** The answer in a filled form; null if that answer was not offered. */
export function answerIn(
  approval: Approval,
  content: Readonly<Record<string, unknown>> | undefined,
): ElicitedAnswer | null {
  const { decision, advice, reply } = content ?? {}
  if (approval.request.type === 'question') {
    const { choices } = approval.request
    const isOffered = typeof reply === 'string' && reply !== '' && (choices?.includes(reply) ?? true)
    return isOffered ? { type: 'reply', value: reply } : null
  }
  const chosen = decisionsFor(approval).find((offered) => offered === decision)
  if (chosen === undefined) return null
  const said = typeof advice === 'string' ? advice.trim().slice(0, MAX_ADVICE_CHARS) : ''
  return chosen === 'deny' && said !== '' ? { type: 'deny', advice: said } : DECISIONS[chosen]
}

/** Clients preselect the first one. */
function decisionsFor({ request }: Approval): Decision[] {
  if (request.type === 'question') return []
  const { grants, defaultToNo } = request
  const approving = (['approve once', 'approve for this session'] as const).filter((decision) =>
    grants.includes(DECISIONS[decision].grant),
  )
  return defaultToNo ? ['deny', ...approving] : [...approving, 'deny']
}
