import type { PermissionOption, RequestPermissionRequest, ToolCall } from '@agentclientprotocol/sdk'
import { approvalText } from '../verbs/approval-text.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

export type Approval = OutputOf<'approval'>['approval']
export type AnswerVerbs = Pick<ReeveVerbs, 'approve' | 'deny' | 'reply'>

/** An option, and the answer to Reeve that it stands for. */
interface Choice extends PermissionOption {
  readonly answer: (verbs: AnswerVerbs, id: string) => Promise<unknown>
}

/** A person must see the whole request. A longer one is answered elsewhere. */
const MAX_SHOWN_CHARS = 12_000

/** The request to the editor; null if an editor cannot ask it: it has buttons, and no place for a text. */
export function permissionForm(
  sessionId: string,
  approval: Approval,
  call: ToolCall | undefined,
): RequestPermissionRequest | null {
  const text = approvalText(approval)
  const options = choicesFor(approval).map(({ optionId, name, kind }) => ({ optionId, name, kind }))
  if (options.length === 0 || text.length > MAX_SHOWN_CHARS) return null
  return { sessionId, toolCall: askedCall(approval, call, text), options }
}

/** The answer for the chosen option; null if it was not offered. */
export function answerFor(approval: Approval, optionId: string): Choice['answer'] | null {
  return choicesFor(approval).find((choice) => choice.optionId === optionId)?.answer ?? null
}

/** The whole action is shown, and the diff of a change as the editor shows diffs. */
function askedCall(
  approval: Approval,
  call: ToolCall | undefined,
  text: string,
): RequestPermissionRequest['toolCall'] {
  const content = [{ type: 'content' as const, content: { type: 'text' as const, text: literal(text) } }]
  if (call === undefined)
    return { toolCallId: approval.id, title: titleOf(approval), kind: 'other', status: 'pending', content }
  const { toolCallId, title, kind = 'other', rawInput, locations = [], content: shown = [] } = call
  return { toolCallId, title, kind, status: 'pending', rawInput, locations, content: [...shown, ...content] }
}

/** How an approval is called if no tool call is shown for it. */
export function titleOf({ request }: Approval): string {
  return request.type === 'question' ? request.text : request.needs.join('; ') || 'an action'
}

/** Answers that come through an editor reach no further than the session. */
function choicesFor({ request }: Approval): Choice[] {
  if (request.type === 'question') {
    if (request.choices === null) return []
    const replies = request.choices.map(
      (value, index): Choice => ({
        optionId: `reply-${index + 1}`,
        name: value,
        kind: 'allow_once',
        answer: (verbs, id) => verbs.reply({ id, value }),
      }),
    )
    return [...replies, { ...DENY, name: 'No answer' }]
  }
  const approving = [ONCE, SESSION].filter(({ grant }) => request.grants.includes(grant))
  return request.defaultToNo ? [DENY, ...approving] : [...approving, DENY]
}

const ONCE = {
  optionId: 'once',
  name: 'Allow once',
  kind: 'allow_once',
  grant: 'once',
  answer: (verbs: AnswerVerbs, id: string) => verbs.approve({ id, grant: 'once' }),
} as const

const SESSION = {
  optionId: 'session',
  name: 'Allow the same action in this session',
  kind: 'allow_always',
  grant: 'session',
  answer: (verbs: AnswerVerbs, id: string) => verbs.approve({ id, grant: 'session' }),
} as const

const DENY: Choice = {
  optionId: 'deny',
  name: 'Deny',
  kind: 'reject_once',
  answer: (verbs, id) => verbs.deny({ id }),
}

/** Indented, so that nothing in it is read as Markdown. */
function literal(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}
