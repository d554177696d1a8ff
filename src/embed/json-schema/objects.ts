import type { Json, JsonObject } from '../../core/json/json.ts'
import { type Check, firstMisfit, isObject, nameOf } from './check.ts'
import { limitOf, membersOf, type Place } from './place.ts'
import type { Run } from './run.ts'
import { patternMatcher } from './scalars.ts'

export function objectChecks(schema: JsonObject, place: Place): Check[] {
  return [
    ...countChecks(schema, place),
    ...requiredCheck(schema, place),
    ...memberChecks(schema, place),
    ...dependencyChecks(schema, place),
  ]
}

function countChecks(schema: JsonObject, place: Place): Check[] {
  const [least, most] = ['minProperties', 'maxProperties'].map((keyword) => limitOf(schema, keyword, place))
  if (least === undefined && most === undefined) return []
  return [
    onObjects((value, path, run) => {
      const { length } = Object.keys(value)
      run.spend(length / 8)
      if (least !== undefined && length < least) return `${nameOf(path)} must have at least ${least} members`
      if (most !== undefined && length > most) return `${nameOf(path)} must have at most ${most} members`
      return undefined
    }),
  ]
}

function requiredCheck(schema: JsonObject, { location }: Place): Check[] {
  if (schema['required'] === undefined) return []
  const required = namesIn(schema['required'], `${location}/required`)
  return [onObjects((value, path, run) => missing(required, value, path, run))]
}

function missing(names: readonly string[], value: JsonObject, path: string, run: Run): string | undefined {
  run.spend(names.length / 8)
  const name = names.find((one) => !Object.hasOwn(value, one))
  return name === undefined ? undefined : `${nameOf(path)} must have the member ${JSON.stringify(name)}`
}

/** `properties`, `patternProperties`, `additionalProperties` and `propertyNames`: one walk over the members of the value. */
function memberChecks(schema: JsonObject, place: Place): Check[] {
  const { compiler, location, depth } = place
  const named = new Map(
    membersOf(schema, 'properties', place).map(([name, inner]) => [
      name,
      compiler.check(inner, `${location}/properties/${name}`, depth + 1),
    ]),
  )
  const patterns = membersOf(schema, 'patternProperties', place).map(
    ([pattern, inner]) =>
      [
        patternMatcher(pattern, place),
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
      for (const [key, member] of Object.entries(value)) {
        run.spend(1)
        const at = `${path}.${key}`
        const own = named.get(key)
        const matching = patterns.filter(([matches]) => matches(key, run)).map(([, check]) => check)
        const checks = [...(own === undefined ? [] : [own]), ...matching]
        const misfit =
          names?.(key, at, run) ??
          firstMisfit(checks.length === 0 && others !== undefined ? [others] : checks, member, at, run)
        if (misfit !== undefined) return misfit
      }
      return undefined
    }),
  ]
}

function dependencyChecks(schema: JsonObject, place: Place): Check[] {
  const { compiler, location, depth } = place
  const required = membersOf(schema, 'dependentRequired', place).map(([key, names]) => {
    const wanted = namesIn(names, `${location}/dependentRequired/${key}`)
    return onObjects((value, path, run) =>
      Object.hasOwn(value, key) ? missing(wanted, value, path, run) : undefined,
    )
  })
  const schemas = membersOf(schema, 'dependentSchemas', place).map(([key, inner]) => {
    const check = compiler.checkSameValue(schema, inner, `${location}/dependentSchemas/${key}`, depth + 1)
    return onObjects((value, path, run) => (Object.hasOwn(value, key) ? check(value, path, run) : undefined))
  })
  return [...required, ...schemas]
}

function namesIn(given: Json, location: string): string[] {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return given
  throw new Error(`${location} must be a list of names`)
}

function onObjects(check: (value: JsonObject, path: string, run: Run) => string | undefined): Check {
  return (value, path, run) => (isObject(value) ? check(value, path, run) : undefined)
}
