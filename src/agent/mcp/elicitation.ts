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
  const fields = Object.entries(objectOf(objectOf(requestedSchema)['properties']))
  if (mode !== 'form' || fields.length > MAX_FIELDS) return { action: DECLINE }
  const text = `The MCP server ${asker.server} asks: ${String(message).slice(0, MAX_MESSAGE_CHARS)}`
  if (fields.length === 0) {
    const answer = await ask(asker, { question: text, choices: ['accept', DECLINE], key }, signal)
    return isReply(answer) && answer.value === 'accept' ? { action: 'accept', content: {} } : refused(answer)
  }
  const content: Record<string, Json> = {}
  for (const [name, given] of fields) {
    const field = objectOf(given)
    const choices = choicesOf(field)
    const question = `${text}\n${labelOf(name, field)}`
    const answer = await ask(asker, { question, choices, key: `${key}:${name}` }, signal)
    if (!isReply(answer) || answer.value === DECLINE) return refused(answer)
    content[name] = fieldValue(field, answer.value)
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

function choicesOf(field: JsonObject): readonly string[] | null {
  if (field['type'] === 'boolean') return ['yes', 'no', DECLINE]
  const titled = Array.isArray(field['oneOf'])
    ? field['oneOf'].map((one: Json) => objectOf(one)['const'])
    : []
  const listed = Array.isArray(field['enum']) ? field['enum'] : titled
  const texts = [...new Set(listed.filter((one) => typeof one === 'string' && one.trim() !== ''))].map(String)
  return texts.length === 0 ? null : [...texts, ...(texts.includes(DECLINE) ? [] : [DECLINE])]
}

function labelOf(name: string, { title, description, type }: JsonObject): string {
  const parts = [typeof title === 'string' ? title : name, description].filter(
    (part) => typeof part === 'string',
  )
  return `${parts.join(': ')}${type === 'number' || type === 'integer' ? ' (a number)' : ''}`
}

/** A reply that does not fit is passed on as it is: the server checks it. */
function fieldValue({ type }: JsonObject, reply: Json): Json {
  if (type === 'boolean') return reply === 'yes'
  const isNumber =
    (type === 'number' || type === 'integer') && typeof reply === 'string' && reply.trim() !== ''
  const number = isNumber ? Number(reply) : Number.NaN
  return Number.isNaN(number) ? reply : number
}
