import type * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import { meantIssues, requirementOf } from './argument-requirements.ts'
import type { PlainSchema } from './input-schema.ts'

const MAX_ISSUES = 5
const MAX_CHARS = 1_500

/** Parses the arguments of a tool, or throws an error with each wrong argument and its expected form. */
export function checkedInput<Input extends z.ZodObject>(
  tool: string,
  input: Input,
  given: unknown,
  { properties = {} }: PlainSchema,
): z.output<Input> {
  const checked = input.safeParse(given)
  if (checked.success) return checked.data
  const issues = checked.error.issues.flatMap(meantIssues)
  const said = issues.slice(0, MAX_ISSUES).map((issue) => {
    if (issue.code === 'unrecognized_keys') return unknownArguments(issue, Object.keys(input.shape))
    const [name = ''] = issue.path
    const where = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
    const plain = properties[String(name)]
    return `${where}${messageOf(issue, given, plain)}${aboutArgument(plain)}`
  })
  const text = said.join('; ')
  throw new ReeveError(
    'invalid_input',
    `Invalid arguments for ${tool}: ${text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}.`,
    'Correct the named arguments and call it again; nothing was done.',
  )
}

function aboutArgument(plain: PlainSchema | undefined): string {
  if (plain?.description === undefined) return ''
  const members = Object.keys(plain.properties ?? {})
  return ` (${plain.description}${members.length === 0 ? '' : `: ${members.join(', ')}`})`
}

function messageOf(issue: z.core.$ZodIssue, given: unknown, plain: PlainSchema | undefined): string {
  const [name] = issue.path
  const isMissing = name !== undefined && issue.path.length === 1 && !Object.hasOwn(Object(given), name)
  return isMissing ? 'is needed' : requirementOf(issue, issue.path.length === 1 ? plain : undefined)
}

function unknownArguments(
  { keys, path }: z.core.$ZodIssueUnrecognizedKeys,
  known: readonly string[],
): string {
  const names = keys.slice(0, MAX_ISSUES).map((key) => JSON.stringify(key.slice(0, 100)))
  const where = path.length === 0 ? '' : ` in ${path.join('.')}`
  return `there is no argument ${names.join(', ')}${where}${path.length > 0 || known.length === 0 ? '' : `; there are ${known.join(', ')}`}`
}
