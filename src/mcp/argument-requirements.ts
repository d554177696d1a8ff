import type * as z from 'zod'
import type { PlainSchema } from './input-schema.ts'

type Issue = z.core.$ZodIssue

/** Messages of the validator. Every other message was written for its argument. */
const GENERIC = /^(Invalid input|Invalid option|Too big|Too small)/

/** Describes the valid values of an argument, for a model. `plain` is the listed schema of the argument. */
export function requirementOf(issue: Issue, plain: PlainSchema | undefined): string {
  if (!GENERIC.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'too_big':
      return `must ${haveOrBe(issue.origin)} at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'too_small':
      return issue.minimum === 1 && unitOf(issue.origin) !== ''
        ? 'must not be empty'
        : `must ${haveOrBe(issue.origin)} at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_type':
      return plain?.type === issue.expected ? formOf(plain) : (TYPES[issue.expected] ?? issue.message)
    default:
      return plain === undefined ? 'does not have the right form' : formOf(plain)
  }
}

/** The issues of the union member that the caller meant: the one that knows all given members. */
export function meantIssues(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const meant = issue.errors.find((issues) =>
    issues.every(({ code, path }) => code !== 'unrecognized_keys' && path.length > 0),
  )
  if (meant === undefined) return [issue]
  return meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be an integer',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
}

function formOf(plain: PlainSchema): string {
  if (plain.enum !== undefined) return oneOf(plain.enum)
  const must = TYPES[plain.type === 'integer' ? 'int' : plain.type] ?? 'does not have the right form'
  const hasMembers = plain.properties !== undefined || plain.items !== undefined
  return hasMembers ? `${must} such as ${JSON.stringify(exampleOf(plain))}` : must
}

function oneOf(values: readonly unknown[]): string {
  const choices = values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)))
  return choices.length === 1 ? `must be ${choices[0]}` : `must be one of ${choices.join(', ')}`
}

function exampleOf(plain: PlainSchema): unknown {
  const [choice] = plain.enum ?? []
  if (choice !== undefined) return choice
  switch (plain.type) {
    case 'object': {
      const [first] = Object.entries(plain.properties ?? {})
      return first === undefined ? {} : { [first[0]]: exampleOf(first[1]) }
    }
    case 'array':
      return plain.items === undefined ? [] : [exampleOf(plain.items)]
    case 'integer':
      return 1
    case 'boolean':
      return true
    default:
      return '…'
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' ? ' items' : ''
}

function haveOrBe(origin: string): 'have' | 'be' {
  return unitOf(origin) === '' ? 'be' : 'have'
}
