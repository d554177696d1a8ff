import { isObject } from '../base/is-object.ts'
import { ReeveError } from '../core/errors.ts'
import type { VerbName } from '../verbs/reeve.ts'
import { routes } from '../verbs/routes.ts'
import type { RepeatKey } from '../verbs/verb.ts'

type Input = Readonly<Record<string, unknown>>

/** Whether this call has the same effect when it is sent again, as its verb declares. */
export function isRepeatable(name: VerbName, input: Input): boolean {
  const { repeat } = routes[name]
  if (typeof repeat === 'string') return repeat === 'always'
  const { except } = repeat
  if (except !== undefined && String(input[except.member]).startsWith(except.startsWith)) return false
  return inputsOf(repeat, input).every((one) => hasKey(repeat, one))
}

/** A call that the daemon recognises when it is repeated. */
export interface KeyedCall {
  readonly input: Input
  /** The answer to the first request that the daemon received, which may be lost. */
  readonly firstAnswer: (answer: unknown) => unknown
  /** The input for a daemon of an earlier version, which refuses the key. */
  readonly unkeyed?: Input
}

/** Generates a key where the verb has one and the caller gave none. */
export function keyedCall(name: VerbName, input: Input): KeyedCall {
  const { repeat } = routes[name]
  if (typeof repeat === 'string' || repeat.generated === undefined) return { input, firstAnswer: unchanged }
  const { each, generated } = repeat
  const withKey = (one: Input): Input => (hasKey(repeat, one) ? one : { ...one, [repeat.keys[0]]: newKey() })
  if (each !== undefined) return keyedCalls(repeat, each, input, withKey)
  if (hasKey(repeat, input)) return { input, firstAnswer: unchanged }
  return {
    input: withKey(input),
    firstAnswer: (answer) => answerToFirst(repeat, answer),
    ...(generated === 'if_accepted' ? { unkeyed: input } : {}),
  }
}

/** The daemon refused the input and did nothing. */
export function isKeyRefused(error: unknown): boolean {
  return (
    error instanceof ReeveError &&
    (error.code as string) === 'invalid_input' &&
    error.message.includes('idempotencyKey')
  )
}

function keyedCalls(
  repeat: RepeatKey,
  each: string,
  input: Input,
  withKey: (one: Input) => Input,
): KeyedCall {
  const given = inputsOf(repeat, input)
  // The daemon refuses a member that is not a list of objects.
  if (given.length === 0) return { input, firstAnswer: unchanged }
  const isKeyedHere = given.map((one) => !hasKey(repeat, one))
  return {
    input: { ...input, [each]: given.map(withKey) },
    firstAnswer: (answer) => {
      const answers = (answer as Readonly<Record<string, readonly unknown[]>>)[each] ?? []
      return { [each]: answers.map((one, index) => (isKeyedHere[index] ? answerToFirst(repeat, one) : one)) }
    },
  }
}

/** The inputs that each have a key: the items of a list, or the input itself. Empty where the list is malformed. */
function inputsOf({ each }: RepeatKey, input: Input): readonly Input[] {
  if (each === undefined) return [input]
  const items = input[each]
  return Array.isArray(items) && items.every(isObject) ? items : []
}

function hasKey({ keys }: RepeatKey, input: Input): boolean {
  return keys.some((key) => input[key] !== undefined)
}

/** No other call has the generated key, so a replayed answer means that an earlier try of this call was received. */
function answerToFirst({ answer: said }: RepeatKey, answer: unknown): unknown {
  if (said === undefined || !isObject(answer) || answer[said.member] !== said.replayed) return answer
  return { ...answer, [said.member]: said.first }
}

/** Loaded on the first use: most clients only read. */
function newKey(): string {
  return process.getBuiltinModule('node:crypto').randomUUID()
}

function unchanged(answer: unknown): unknown {
  return answer
}
