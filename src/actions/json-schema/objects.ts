import { isObject } from '../../base/is-object.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { type Check, firstMisfit, type Misfit, shown } from './check.ts'
import { limitOf, membersOf, type SchemaPosition } from './position.ts'
import type { Run } from './run.ts'
import { patternMatcher } from './scalars.ts'

export function objectChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  return [
    ...countChecks(schema, position),
    ...requiredCheck(schema, position),
    ...memberChecks(schema, position),
    ...dependencyChecks(schema, position),
  ]
}

function countChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  const [least, most] = ['minProperties', 'maxProperties'].map((keyword) =>
    limitOf(schema, keyword, position),
  )
  if (least === undefined && most === undefined) return []
  return [
    onObjects((value, path, run) => {
      const { length } = Object.keys(value)
      run.spend(length)
      if (least !== undefined && length < least)
        return [{ path, says: `must have at least ${least} members` }]
      if (most !== undefined && length > most) return [{ path, says: `must have at most ${most} members` }]
      return undefined
    }),
  ]
}

function requiredCheck(schema: JsonObject, { location }: SchemaPosition): Check[] {
  if (schema['required'] === undefined) return []
  return [required(namesIn(schema['required'], `${location}/required`))]
}

const NAMES_PER_STEP = 4

function required(names: readonly string[]): Check {
  const wanted = names.map((name) => ({ name, says: `must have the member ${shown(name)}` }))
  return onObjects((value, path, run) => {
    run.spend(wanted.length / NAMES_PER_STEP)
    const missing = wanted.find(({ name }) => !Object.hasOwn(value, name))
    return missing === undefined ? undefined : [{ path, says: missing.says }]
  })
}

const STEPS_PER_MEMBER = 2

/** `properties`, `patternProperties`, `additionalProperties` and `propertyNames`: one walk over the members of the value. */
function memberChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  const { compiler, location, depth } = position
  const named = new Map(
    membersOf(schema, 'properties', position).map(([name, inner]) => [
      name,
      compiler.check(inner, `${location}/properties/${name}`, depth + 1),
    ]),
  )
  const patterns = membersOf(schema, 'patternProperties', position).map(
    ([pattern, inner]) =>
      [
        patternMatcher(pattern, position),
        compiler.check(inner, `${location}/patternProperties/${pattern}`, depth + 1),
      ] as const,
  )
  const optional = (keyword: string) =>
    schema[keyword] === undefined
      ? undefined
      : compiler.check(schema[keyword], `${location}/${keyword}`, depth + 1)
  const others = optional('additionalProperties')
  const names = optional('propertyNames')
  if (named.size === 0 && patterns.length === 0 && others === undefined && names === undefined) return []
  return [
    onObjects((value, path, run) => {
      const members = Object.entries(value)
      run.spend(members.length * STEPS_PER_MEMBER)
      for (const [key, member] of members) {
        const checks: Check[] = []
        const own = named.get(key)
        if (own !== undefined) checks.push(own)
        for (const [matches, check] of patterns) if (matches(key, run)) checks.push(check)
        if (checks.length === 0 && others !== undefined) checks.push(others)
        if (checks.length === 0 && names === undefined) continue
        const at = `${path}.${key}`
        const misfit = names?.(key, at, run) ?? firstMisfit(checks, member, at, run)
        if (misfit !== undefined) return misfit
      }
      return undefined
    }),
  ]
}

function dependencyChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  const { compiler, location, depth } = position
  const names = membersOf(schema, 'dependentRequired', position).map(([key, given]) => {
    const check = required(namesIn(given, `${location}/dependentRequired/${key}`))
    return onObjects((value, path, run) => (Object.hasOwn(value, key) ? check(value, path, run) : undefined))
  })
  const schemas = membersOf(schema, 'dependentSchemas', position).map(([key, inner]) => {
    const check = compiler.checkSameValue(schema, inner, `${location}/dependentSchemas/${key}`, depth + 1)
    return onObjects((value, path, run) => (Object.hasOwn(value, key) ? check(value, path, run) : undefined))
  })
  return [...names, ...schemas]
}

function namesIn(given: Json, location: string): string[] {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return given
  throw new Error(`${location} must be a list of names`)
}

function onObjects(
  check: (value: JsonObject, path: string, run: Run) => readonly Misfit[] | undefined,
): Check {
  return (value, path, run) => (isObject(value) ? check(value, path, run) : undefined)
}
