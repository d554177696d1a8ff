import type * as z from 'zod'
import type { ErrorCode } from '../core/errors.ts'

export type Route = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/** Each role includes the rights of the roles before it. */
export const ROLES = ['read', 'operate', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** An act with one schema and one name on every surface. Everything that is true of one verb is a field here. */
export interface Verb<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType>
  extends VerbCall<z.output<Output>> {
  readonly summary: string
  /** Details that a caller needs and the summary leaves out. */
  readonly description?: string
  /** The lowest role that may call it. With `read` it changes nothing but read positions and seen notices. */
  readonly needs: Role
  readonly input: Input
  readonly output: Output
  /** The codes of its refusals, besides `invalid_input` and errors of the store. */
  readonly codes: readonly ErrorCode[]
  /** How secrets in its answer are masked. `all` unless the verb says otherwise. */
  readonly masking: AnswerMasking
  /** Its answer is about many processes: a reveal is recorded with each process whose secrets the answer shows. */
  readonly showsMany?: true
  /**
   * It acts as the person behind the caller, and not as the host. `required`: where no person is known it is refused; sessions and
   * processes act as themselves.
   */
  readonly asPerson?: 'required' | 'if_known'
  /** The HTTP header `Idempotency-Key` stands for the member `idempotencyKey` of its input. */
  readonly idempotencyHeader?: true
}

/** The part of a verb that a client needs to call it. It has no schema, so that a client loads none. */
export interface VerbCall<Answer = unknown> {
  /** Below `/v1` on HTTP; `{names}` are members of the input. A `GET` changes nothing but read positions and seen notices. */
  readonly route: Route
  /** Whether a client sends the call again when the answer was lost: a `GET` always, others never unless the verb says so. */
  readonly repeat: Repeat
  /**
   * Makes the verb a wait: the answer to a caller that aborts it. A wait that is repeated lasts for the rest of its
   * `timeoutMs`.
   */
  readonly interrupted?: Answer
}

/** `always`: the call changes nothing, or has the same effect when it is repeated. */
type Repeat = 'always' | 'never' | RepeatKey

/** A key in the input, by which the daemon recognises a repeated call. With a key the call may be repeated. */
export interface RepeatKey {
  /** The members that may hold the key. One of them is enough. */
  readonly keys: readonly [string, ...string[]]
  /** The member that is a list of inputs, each with a key of its own. */
  readonly each?: string
  /**
   * The client generates the first key if the caller gives none. `if_accepted`: daemons of earlier versions refuse the key,
   * and then the call is sent once without it.
   */
  readonly generated?: 'always' | 'if_accepted'
  /** Under a generated key an answer with the value `replayed` is the answer to the first try, which has the value `first`. */
  readonly answer?: { readonly member: string; readonly replayed: string; readonly first: string }
  /** An input whose member begins with this text is not covered by the key. */
  readonly except?: { readonly member: string; readonly startsWith: string }
}

/**
 * How much of an answer is masked.
 *
 * | masking  | of commands | of other processes                                                 | anything else |
 * | all      | everything  | everything                                                         | everything    |
 * | values   | everything  | all but what programs hand to each other: inputs, results, signals | nothing       |
 * | records  | everything  | everything                                                         | nothing       |
 * | none     | nothing     | nothing                                                            | nothing       |
 */
export type AnswerMasking = 'all' | 'values' | 'records' | 'none'

type Defaults = 'repeat' | 'masking'
type Schemas = 'input' | 'output'
type Definition<Input extends z.ZodType, Output extends z.ZodType> = Omit<
  Verb<Input, Output>,
  Defaults | Schemas
> &
  Partial<Pick<Verb, Defaults>> & {
    /** Called when a schema is first read: most programs call few verbs, and check no answers. */
    readonly input: () => Input
    readonly output: () => Output
  }

export function verb<Input extends z.ZodType, Output extends z.ZodType>({
  input: makeInput,
  output: makeOutput,
  ...definition
}: Definition<Input, Output>): Verb<Input, Output> {
  const repeat = definition.route.startsWith('GET ') ? 'always' : 'never'
  let input: Input | undefined
  let output: Output | undefined
  return {
    repeat,
    masking: 'all',
    ...definition,
    get input() {
      input ??= makeInput()
      return input
    },
    get output() {
      output ??= makeOutput()
      return output
    },
  }
}
