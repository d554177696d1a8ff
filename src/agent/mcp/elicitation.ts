import { type QuestionAnswer, questionAnswer } from '../../core/approval/question.ts'
import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import type { Owner } from '../../core/process/record.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'

/** Who asks: the agent, on behalf of a server. */
export interface Asker {
  readonly verbs: Pick<ReeveVerbs, 'ask' | 'wait'>
  readonly agent: string
  readonly owner: Owner | undefined
  readonly server: string
}

const DECLINE = 'decline'
/** Leaves a field out, or takes its default: a choice, and the reply to a question for a text. */
const SKIP_CHOICE = 'skip'
const SKIP_TEXT = '-'
const MAX_FIELDS = 20
const MAX_MESSAGE_CHARS = 4_000

/**
 * Passes a question of a server on to people, one question for each field of its form. `key` makes it one question, however often
 * it is passed on.
 */
export async function elicit(
  asker: Asker,
  params: JsonObject,
  key: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { message, mode = 'form', requestedSchema } = params
  const { properties, required } = objectOf(requestedSchema)
  const fields = Object.entries(objectOf(properties))
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  if (mode !== 'form' || fields.length > MAX_FIELDS) return { action: DECLINE }
  const text = `The MCP server ${asker.server} asks: ${String(message).slice(0, MAX_MESSAGE_CHARS)}`
  if (fields.length === 0) {
    const answer = await ask(asker, { question: text, choices: ['accept', DECLINE], key }, signal)
    return isReply(answer) && answer.value === 'accept' ? { action: 'accept', content: {} } : refused(answer)
  }
  const content: Record<string, Json> = {}
  for (const [name, given] of fields) {
    const field = objectOf(given)
    const fallback = field['default']
    // A choice of that name means itself.
    const isSkippable =
      (fallback !== undefined || !isRequired(name)) && !valuesOf(field).includes(SKIP_CHOICE)
    const choices = choicesOf(field, isSkippable)
    const skip = skipWord(choices, isSkippable)
    const question = `${text}\n${labelOf(name, field)}${skipText(skip, fallback)}`
    const answer = await ask(asker, { question, choices, key: `${key}:${name}` }, signal)
    if (!isReply(answer) || answer.value === DECLINE) return refused(answer)
    const isSkipped = skip !== null && typeof answer.value === 'string' && answer.value.trim() === skip
    if (!isSkipped) content[name] = fieldValue(field, answer.value)
    else if (fallback !== undefined) content[name] = fallback
  }
  return { action: 'accept', content }
}

interface Question {
  readonly question: string
  readonly choices: readonly string[] | null
  readonly key: string
}

async function ask(
  { verbs, agent, owner }: Asker,
  { question, choices, key }: Question,
  signal: AbortSignal,
): Promise<QuestionAnswer> {
  const { record } = await verbs.ask({
    question,
    ...(choices === null ? {} : { choices: [...choices] }),
    idempotencyKey: key,
    parent: agent,
    ...(owner === undefined ? {} : { owner }),
  })
  for (;;) {
    const waited = await verbs.wait({ pid: record.pid }, { signal })
    signal.throwIfAborted()
    if (waited.type === 'ended' && waited.record.outcome !== null)
      return questionAnswer(waited.record.outcome)
  }
}

function isReply(answer: QuestionAnswer): answer is Extract<QuestionAnswer, { readonly type: 'replied' }> {
  return answer.type === 'replied'
}

function refused({ type }: QuestionAnswer): JsonObject {
  return { action: type === 'denied' || type === 'replied' ? DECLINE : 'cancel' }
}

/** Null for a field that takes a text. One that takes several values does. */
function choicesOf(field: JsonObject, isSkippable: boolean): readonly string[] | null {
  const texts = field['type'] === 'boolean' ? ['yes', 'no'] : field['type'] === 'array' ? [] : valuesOf(field)
  if (texts.length === 0) return null
  return [...new Set([...texts, ...(isSkippable ? [SKIP_CHOICE] : []), DECLINE])]
}

function valuesOf({ enum: listed, oneOf, anyOf }: JsonObject): readonly string[] {
  const titled = [oneOf, anyOf].find(Array.isArray) ?? []
  const all = Array.isArray(listed) ? listed : titled.map((one: Json) => objectOf(one)['const'])
  return [...new Set(all.filter((one) => typeof one === 'string' && one.trim() !== ''))].map(String)
}

function skipWord(choices: readonly string[] | null, isSkippable: boolean): string | null {
  if (!isSkippable) return null
  return choices === null ? SKIP_TEXT : SKIP_CHOICE
}

function skipText(skip: string | null, fallback: Json | undefined): string {
  if (skip === null) return ''
  if (fallback === undefined) return ` (optional; ${skip} leaves it out)`
  return ` (${skip} takes the default: ${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)})`
}

function labelOf(name: string, { title, description, type, items }: JsonObject): string {
  const parts = [typeof title === 'string' ? title : name, description].filter(
    (part) => typeof part === 'string',
  )
  const values = type === 'array' ? valuesOf(objectOf(items)) : []
  const several = values.length === 0 ? '' : ` of ${values.join(', ')}`
  const hint = type === 'array' ? ` (any${several}; commas between them)` : ''
  return `${parts.join(': ')}${type === 'number' || type === 'integer' ? ' (a number)' : hint}`
}

/** A reply that does not fit is passed on as it is: the server checks it. */
function fieldValue({ type }: JsonObject, reply: Json): Json {
  if (type === 'boolean') return reply === 'yes'
  if (type === 'array')
    return String(reply)
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
  const isNumber =
    (type === 'number' || type === 'integer') && typeof reply === 'string' && reply.trim() !== ''
  const number = isNumber ? Number(reply) : Number.NaN
  return Number.isNaN(number) ? reply : number
}
