import type * as z from 'zod'
import { RefusedError } from '../core/errors.ts'
import { type Json, notJson } from '../core/json/json.ts'
import { refusal } from '../core/refusal.ts'
import { unknownField } from './unknown-field.ts'

/** Parses the input of `doing`. Invalid input is refused with a sentence that names the field. */
export function parse<Type extends z.ZodType>(type: Type, given: unknown, doing: string): z.output<Type> {
  const parsed = type.safeParse(withoutUndefined(given))
  if (parsed.success) return parsed.data
  const found = parsed.error.issues.length
  const issues = parsed.error.issues.slice(0, MAX_ISSUES)
  const said = strictest(issues).map((issue) => sentenceOf(issue, type, given))
  const more = found > issues.length ? [`and ${found - issues.length} more`] : []
  throw new RefusedError(
    refusal(
      'invalid_input',
      `${doing} was given something it cannot use: ${[...said, ...more].join('; ')}.`,
      'Correct the named fields; nothing was done.',
      { issues: issues.map(shortened) },
    ),
  )
}

/** Returns a value that a caller gave, if it is JSON all the way down: only that can be stored. */
export function checkJson(value: Json, field: string): Json {
  const wrong = notJson(value)
  if (wrong !== undefined)
    throw new RefusedError(refusal('invalid_input', `${field}: ${wrong}.`, 'Send plain JSON.', { field }))
  return value
}

/** An input may have hundreds of thousands of wrong fields; a message about all of them would be useless. */
const MAX_ISSUES = 20
const MAX_KEYS = 5

function shortened(issue: z.core.$ZodIssue): object {
  if (issue.code === 'unrecognized_keys') {
    const { length } = issue.keys
    if (length <= MAX_KEYS) return issue
    return { ...issue, keys: issue.keys.slice(0, MAX_KEYS), message: `${length} unrecognized keys` }
  }
  if (issue.code !== 'invalid_union') return issue
  return { ...issue, errors: issue.errors.map((inner) => inner.slice(0, MAX_ISSUES).map(shortened)) }
}

/** Drops the wider of two bounds that one value misses: a schema adds the closer bound after the wider one. */
function strictest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.filter(
    ({ code, path }, index) =>
      (code !== 'too_small' && code !== 'too_big') ||
      !issues.slice(index + 1).some((later) => later.code === code && later.path.join() === path.join()),
  )
}

function sentenceOf(issue: z.core.$ZodIssue, type: z.ZodType, given: unknown): string {
  const messages = messagesOf(issue, { type, given, path: [] })
  const message = [...new Set(messages)].join(', or ')
  return issue.path.length === 0 ? message : `${issue.path.join('.')}: ${message}`
}

/** For a union, one message per alternative: "invalid input" alone does not help. */
function messagesOf(
  issue: z.core.$ZodIssue,
  whole: { readonly type: z.ZodType; readonly given: unknown; readonly path: readonly PropertyKey[] },
): string[] {
  const path = [...whole.path, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const said = issue.keys.slice(0, MAX_KEYS).map((key) => unknownField(whole.type, whole.given, path, key))
    const more = issue.keys.length - said.length
    return more > 0 ? [...said, `and ${more} more that do not exist`] : said
  }
  const hasOwn =
    issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== 'Invalid input'
  return hasOwn
    ? [issue.message]
    : issue.errors.flatMap((errors) =>
        errors.slice(0, MAX_ISSUES).flatMap((inner) => messagesOf(inner, { ...whole, path })),
      )
}

/** Deeper than any valid input: a deeper one is refused anyway. */
const MAX_DEPTH = 600

/** A member that is `undefined` counts as left out, at any depth, as in JSON. */
function withoutUndefined(given: unknown): unknown {
  return hasUndefined(given, 0) ? strip(given) : given
}

function hasUndefined(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
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
