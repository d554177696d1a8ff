import type { OpenPermission, PermissionOption } from '../../core/agent/outside.ts'
import { MAX_CHOICE_CHARS, type QuestionAnswer, questionAnswer } from '../../core/approval/question.ts'
import { type JsonObject, objectOf } from '../../core/json/json.ts'
import type { Owner } from '../../core/process/record.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'

const MAX_OPTIONS = 16
const MAX_ID_CHARS = 500
const MAX_TITLE_CHARS = 1_000
const MAX_INPUT_CHARS = 2_000

/** The answer of a client that gives none. */
export const CANCELLED = { outcome: { outcome: 'cancelled' } } as const

/** The options of a request for a permission; none if it has none that can be answered. */
export function optionsIn({ options }: JsonObject): readonly PermissionOption[] {
  const given = Array.isArray(options) ? options.slice(0, MAX_OPTIONS) : []
  const names = new Set<string>()
  return given.flatMap((option) => {
    const { optionId, name, kind } = objectOf(option)
    if (typeof optionId !== 'string' || optionId.length > MAX_ID_CHARS) return []
    const title = (typeof name === 'string' && name.trim() !== '' ? name : optionId).slice(
      0,
      MAX_CHOICE_CHARS - 20,
    )
    const unique = names.has(title) ? `${title} (${names.size + 1})` : title
    names.add(unique)
    return [{ id: optionId, name: unique, kind: String(kind) }]
  })
}

interface Asking {
  readonly verbs: Pick<ReeveVerbs, 'ask'>
  readonly agent: string
  readonly owner: Owner
  readonly program: string
  readonly name: string
  readonly request: JsonObject
  readonly id: string | number
  /** The end of the request in the output of the program: it names the request, because a program may use an id again. */
  readonly end: number
}

/** Asks people, once however often the same request is read: the question is a process below the agent. */
export async function askPeople({
  verbs,
  agent,
  owner,
  program,
  name,
  request,
  id,
  end,
}: Asking): Promise<OpenPermission> {
  const options = optionsIn(request)
  const { record } = await verbs.ask({
    question: questionText(name, objectOf(request['toolCall'])),
    choices: options.map((option) => option.name),
    idempotencyKey: `acp:${program}:${end}`,
    parent: agent,
    owner,
  })
  return { id, question: record.pid, options }
}

function questionText(name: string, { title, rawInput, locations }: JsonObject): string {
  const what = typeof title === 'string' && title !== '' ? title.slice(0, MAX_TITLE_CHARS) : 'a tool call'
  const paths = (Array.isArray(locations) ? locations : []).map((one) => String(objectOf(one)['path']))
  const input = rawInput === undefined || rawInput === null ? '' : JSON.stringify(rawInput)
  const cut = input.length <= MAX_INPUT_CHARS ? input : `${input.slice(0, MAX_INPUT_CHARS).toWellFormed()}…`
  return [
    `The agent ${name} asks for a permission: ${what}`,
    ...(paths.length === 0 ? [] : [`Files: ${paths.slice(0, 20).join(', ').slice(0, MAX_TITLE_CHARS)}`]),
    ...(cut === '' || cut === '{}' ? [] : [`Input: ${cut}`]),
  ].join('\n')
}

/** Waits for a person. The signal ends the wait, not the question. */
export async function replyOf(
  verbs: Pick<ReeveVerbs, 'wait'>,
  { question, options }: OpenPermission,
  signal: AbortSignal,
): Promise<JsonObject> {
  for (;;) {
    const waited = await verbs.wait({ pid: question }, { signal })
    signal.throwIfAborted()
    if (waited.type === 'ended' && waited.record.outcome !== null)
      return chosen(questionAnswer(waited.record.outcome), options)
  }
}

/** A denial chooses the option that rejects once. */
function chosen(answer: QuestionAnswer, options: readonly PermissionOption[]): JsonObject {
  const option =
    answer.type === 'replied'
      ? options.find(({ name }) => name === answer.value)
      : answer.type === 'denied'
        ? options.find(({ kind }) => kind === 'reject_once')
        : undefined
  return option === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: option.id } }
}
