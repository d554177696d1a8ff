import type * as z from 'zod'
import { RefusedError } from '../core/errors.ts'
import { refusal } from '../core/refusal.ts'

/** Bad input gets a sentence that names the field, and nothing is done. */
export function parse<Type extends z.ZodType>(type: Type, given: unknown, doing: string): z.output<Type> {
  const parsed = type.safeParse(withoutUndefined(given))
  if (parsed.success) return parsed.data
  const said = parsed.error.issues.map(sentenceOf)
  throw new RefusedError(
    refusal(
      'invalid_input',
      `${doing} was given something it cannot use: ${said.join('; ')}.`,
      'Correct the named fields; nothing was done.',
      {
        issues: parsed.error.issues,
      },
    ),
  )
}

/** Of a union, what is wrong with each alternative: "invalid input" alone helps nobody. */
function sentenceOf(issue: z.core.$ZodIssue): string {
  const message = [...new Set(messagesOf(issue))].join(', or ')
  return issue.path.length === 0 ? message : `${issue.path.join('.')}: ${message}`
}

function messagesOf(issue: z.core.$ZodIssue): string[] {
  const hasOwn =
    issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== 'Invalid input'
  return hasOwn ? [issue.message] : issue.errors.flat().flatMap(messagesOf)
}

/** Deeper than any input may be: what lies below is refused anyway. */
const MOST_NESTED = 600

/** `undefined` is how a program leaves a field out, at any depth, as JSON does. */
function withoutUndefined(given: unknown): unknown {
  return hasUndefined(given, 0) ? strip(given) : given
}

function hasUndefined(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MOST_NESTED) return false
  if (Array.isArray(value)) return value.some((item) => hasUndefined(item, depth + 1))
  return Object.values(value).some((member) => member === undefined || hasUndefined(member, depth + 1))
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (hasUndefined(item, 0) ? strip(item) : item))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  const kept = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    kept.map(([key, member]) => [key, hasUndefined(member, 0) ? strip(member) : member]),
  )
}
