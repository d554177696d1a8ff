import { nearestName } from '../../base/nearest-name.ts'
import { type Json, type JsonObject, objectOf } from '../json/json.ts'
import type { Actor, Kind, Outcome } from '../process/record.ts'
import { isWaitTime } from '../process/wait-time.ts'
import { type Refusal, refusal } from '../refusal.ts'

/** The tool that asks a person. No executor runs it: the reply of the person is its result. */
export const ASK_TOOL = 'human.ask'

/** Stands for people in general, in rules about `human:<name>`. No person has this name. */
export const ANY_PERSON = 'host'

export const MAX_QUESTION_CHARS = 10_000
export const MAX_CHOICES = 100
export const MAX_CHOICE_CHARS = 500
export const MAX_PRIORITY = 1_000
const MAX_LABEL_CHARS = 120

/** A question as its asker gives it: the input of the tool. A type alias, because an interface would not count as JSON. */
export type QuestionInput = {
  readonly question: string
  /** The person replies with one of these; without them with any text. */
  readonly choices?: readonly string[]
  /** How long the question waits for a reply; forever without it. */
  readonly timeoutMs?: number
  /** The name of the person who is asked; without it any person is. */
  readonly person?: string
  /** Higher ones are shown first; 0 by default. */
  readonly priority?: number
}

/** How a question ended, for its asker. */
export type QuestionAnswer =
  | { readonly type: 'replied'; readonly value: Json; readonly by: Actor | null }
  | { readonly type: 'denied'; readonly advice: string | null; readonly by: Actor | null }
  | { readonly type: 'expired' }
  /** It was stopped before a person replied. */
  | { readonly type: 'withdrawn'; readonly reason: string | null }

type Given = { readonly [Name in keyof QuestionInput]: QuestionInput[Name] | undefined }

/** The process that asks a question. A member that is undefined counts as left out. */
export function questionProcess(question: Given) {
  const { question: text } = question
  const [line = ''] = typeof text === 'string' ? text.trim().split('\n', 1) : []
  const label = line.length > MAX_LABEL_CHARS ? `${line.slice(0, MAX_LABEL_CHARS - 1)}…` : line
  const given = Object.entries(Object(question)).filter(([, value]) => value !== undefined)
  const input = Object.fromEntries(given) as QuestionInput
  return { kind: 'tool', spec: { tool: ASK_TOOL, input }, ...(label === '' ? {} : { label }) } as const
}

export function isQuestion({ kind, spec }: { readonly kind: Kind; readonly spec: JsonObject }): boolean {
  return kind === 'tool' && spec['tool'] === ASK_TOOL
}

const PERSON = /^[^\p{Cc}\p{Cs}:]{1,100}$/u

/** What each member of the input must be. */
const MEMBERS: {
  readonly [Name in keyof Required<QuestionInput>]: readonly [rule: string, isFine: (value: Json) => boolean]
} = {
  question: [`a text of 1 to ${MAX_QUESTION_CHARS} characters`, (value) => isText(value, MAX_QUESTION_CHARS)],
  choices: [`a list of 1 to ${MAX_CHOICES} different texts`, isChoices],
  timeoutMs: ['a number of milliseconds above 0', (value) => isWaitTime(value) && value > 0],
  person: ['the name of a person', (value) => typeof value === 'string' && PERSON.test(value)],
  priority: [
    `a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`,
    (value) => Number.isInteger(value) && Math.abs(Number(value)) <= MAX_PRIORITY,
  ],
}

/** The question of a process that asks one. A question without a possible answer is refused. */
export function questionOf(spec: JsonObject): QuestionInput | Refusal {
  const input = objectOf(spec['input'])
  for (const [member, value] of Object.entries(input)) {
    if (!isMember(member)) {
      const meant = nearestName(member, Object.keys(MEMBERS))
      const remedy = meant === undefined ? `Leave ${member} out.` : `Did you mean ${meant}?`
      return refusal('invalid_input', `A question has no ${JSON.stringify(member)}.`, remedy, {
        field: member,
      })
    }
    const [rule, isFine] = MEMBERS[member]
    if (!isFine(value)) return wrong(member, rule)
  }
  return input['question'] === undefined ? wrong('question', MEMBERS.question[0]) : (input as QuestionInput)
}

/** The answer to a question, from the outcome of its process. */
export function questionAnswer({ status, reason, source, result }: Outcome): QuestionAnswer {
  if (status === 'completed') return { type: 'replied', value: result, by: source }
  if (reason === 'approval_denied') {
    const { advice } = objectOf(result)
    return { type: 'denied', advice: typeof advice === 'string' ? advice : null, by: source }
  }
  return reason === 'approval_expired' ? { type: 'expired' } : { type: 'withdrawn', reason }
}

function isMember(name: string): name is keyof QuestionInput {
  return Object.hasOwn(MEMBERS, name)
}

function isText(value: Json | undefined, most: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= most
}

function isChoices(value: Json): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_CHOICES) return false
  const texts: readonly Json[] = value
  return texts.every((text) => isText(text, MAX_CHOICE_CHARS)) && new Set(texts).size === texts.length
}

function wrong(field: string, rule: string): Refusal {
  return refusal(
    'invalid_input',
    `The ${field} of a question must be ${rule}.`,
    'Correct it; nothing was asked.',
    {
      field,
    },
  )
}
