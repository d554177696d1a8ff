import { RE2JS } from 're2js'
import * as z from 'zod'
import { compilePattern } from '../../command/output/pattern.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { type Check, type Misfit, shown } from './check.ts'
import { limitOf, type SchemaPosition } from './position.ts'
import type { Run } from './run.ts'

const COMPARISONS: readonly (readonly [
  keyword: string,
  fits: (value: number, limit: number) => boolean,
  says: string,
])[] = [
  ['minimum', (value, limit) => value >= limit, 'at least'],
  ['maximum', (value, limit) => value <= limit, 'at most'],
  ['exclusiveMinimum', (value, limit) => value > limit, 'more than'],
  ['exclusiveMaximum', (value, limit) => value < limit, 'less than'],
  ['multipleOf', (value, limit) => isMultiple(value, limit), 'a multiple of'],
]

export function numberChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  return COMPARISONS.flatMap(([keyword, fits, says]) => {
    const limit = limitOf(schema, keyword, position)
    if (limit === undefined) return []
    if (keyword === 'multipleOf' && limit <= 0)
      throw new Error(`${position.location}/multipleOf must be more than 0`)
    const misses = `must be ${says} ${limit}`
    return [
      (value, path) =>
        typeof value !== 'number' || fits(value, limit) ? undefined : [{ path, says: misses }],
    ] satisfies Check[]
  })
}

/** Decimal fractions have no exact double: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON * 4
}

export function stringChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  const checks: Check[] = []
  const [least, most] = ['minLength', 'maxLength'].map((keyword) => limitOf(schema, keyword, position))
  if (least !== undefined || most !== undefined)
    checks.push(
      onStrings((text, path, run) => {
        const length = codePoints(text, run)
        if (least !== undefined && length < least)
          return [{ path, says: `must have at least ${least} characters` }]
        if (most !== undefined && length > most)
          return [{ path, says: `must have at most ${most} characters` }]
        return undefined
      }),
    )
  const { pattern, format } = schema
  if (pattern !== undefined) {
    if (typeof pattern !== 'string') throw new Error(`${position.location}/pattern must be a text`)
    const matches = patternMatcher(pattern, position)
    const says = `must match ${shown(pattern)}`
    checks.push(onStrings((text, path, run) => (matches(text, run) ? undefined : [{ path, says }])))
  }
  const isFormat = typeof format === 'string' ? FORMATS.get(format) : undefined
  if (isFormat !== undefined)
    checks.push(
      onStrings((text, path, run) => {
        run.spend(text.length)
        const isRight = text.length <= MAX_FORMAT_CHARS && isFormat.safeParse(text).success
        return isRight ? undefined : [{ path, says: `must be a ${format}` }]
      }),
    )
  return checks
}

/** Values with a format are short, and some expressions of formats take more than linear time. */
const MAX_FORMAT_CHARS = 2_000

/** Other formats are annotations. */
const FORMATS: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['date', z.iso.date()],
  ['date-time', z.iso.datetime({ offset: true })],
  ['duration', z.iso.duration()],
  ['email', z.email()],
  ['hostname', z.hostname()],
  ['ipv4', z.ipv4()],
  ['ipv6', z.ipv6()],
  ['uri', z.url()],
  ['uuid', z.uuid()],
])

function onStrings(check: (text: string, path: string, run: Run) => readonly Misfit[] | undefined): Check {
  return (value: Json, path, run) => (typeof value === 'string' ? check(value, path, run) : undefined)
}

/** How many states of a pattern, times characters, cost one step. */
const STATES_PER_STEP = 32

/** Patterns of JSON Schema match anywhere in a text. RE2 takes linear time for any pattern. */
export function patternMatcher(
  pattern: string,
  { compiler }: SchemaPosition,
): (text: string, run: Run) => boolean {
  const compiled = compilePattern(RE2JS.translateRegExp(pattern), false)
  const states = compiled.programSize()
  compiler.countPatternStates(states)
  return (text, run) => {
    run.spend(1 + Math.ceil((text.length * states) / STATES_PER_STEP))
    return compiled.test(text)
  }
}

function codePoints(text: string, run: Run): number {
  run.spend(text.length / 16)
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff
    if (!isSecondHalf) count++
  }
  return count
}
