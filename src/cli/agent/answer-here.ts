import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { neutral } from '../print/neutral.ts'
import { onOneLine } from '../print/table.ts'
import { refuseInside } from '../refuse-inside.ts'
import { settlementText } from '../settlement-text.ts'
import type { Approval } from './asked-people.ts'

/** Characters of an action that the prompt names. */
const MAX_NAMED_CHARS = 40

/** What a typed line says to a request that waits. */
export type TypedAnswer =
  | { readonly type: 'approve' }
  | { readonly type: 'deny'; readonly advice: string | null }
  | { readonly type: 'reply'; readonly value: string }
  /** It answers nothing. */
  | { readonly type: 'unclear'; readonly hint: string }

/** `y` and `n [advice]` for a permission, a text or the number of a choice for a question. An empty line is a no if that is the default. */
export function typedAnswer({ request }: Pick<Approval, 'request'>, line: string): TypedAnswer {
  const text = line.trim()
  if (request.type === 'question') {
    const { choices } = request
    if (text === '') return { type: 'unclear', hint: 'Type your reply.' }
    if (choices === null) return { type: 'reply', value: text }
    const choice = choiceOf(choices, text)
    return choice === undefined
      ? { type: 'unclear', hint: `Type a number from 1 to ${choices.length}, or one of the choices.` }
      : { type: 'reply', value: choice }
  }
  if (text === '' && request.defaultToNo) return { type: 'deny', advice: null }
  if (/^y(?:es)?$/i.test(text)) return { type: 'approve' }
  const no = /^no?(?:\s+(?<advice>\S.*))?$/is.exec(text)
  if (no !== null) return { type: 'deny', advice: no.groups?.['advice'] ?? null }
  return {
    type: 'unclear',
    hint: 'Type y, or n with advice for the agent; > before a text queues it, ! steers.',
  }
}

/** The prompt for the first of the requests that wait. */
export function answerPrompt(waiting: readonly Approval[]): string {
  const [first] = waiting
  if (first === undefined) return ''
  const { request } = first
  const place = waiting.length === 1 ? '' : ` (1 of ${waiting.length})`
  if (request.type === 'permission')
    return `approve ${named(request.needs)}${place}? ${request.defaultToNo ? '[y/N]' : 'y, n [advice]'} › `
  return `reply${place}${request.choices === null ? '' : ` 1-${request.choices.length}`} › `
}

/** Answers as the person at this terminal. Returns what became of the request. */
export async function answerHere(
  context: Context,
  reeve: Pick<ReeveVerbs, 'approve' | 'deny' | 'reply'>,
  id: string,
  answer: Exclude<TypedAnswer, { type: 'unclear' }>,
): Promise<string> {
  refuseInside(context, `An answer to ${id}`)
  if (answer.type === 'approve') return settlementText(await reeve.approve({ id }))
  if (answer.type === 'reply') return settlementText(await reeve.reply({ id, value: answer.value }))
  const { advice } = answer
  return settlementText(await reeve.deny({ id, ...(advice === null ? {} : { advice }) }))
}

function named(needs: readonly string[]): string {
  const text = neutral(onOneLine(needs.join('; ')))
  return text.length > MAX_NAMED_CHARS ? `${text.slice(0, MAX_NAMED_CHARS - 1)}…` : text
}

/** The choice with this text or, if no choice has it, with this number; undefined without one. */
export function choiceOf(choices: readonly string[], text: string): string | undefined {
  if (choices.includes(text)) return text
  return /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined
}
