import { canonical } from '../../core/json/canonical.ts'
import { type Json, type JsonObject, sizeOf } from '../../core/json/json.ts'
import type { Check, Misfit } from './check.ts'
import { limitOf, type SchemaPosition } from './position.ts'
import type { Run } from './run.ts'

export function arrayChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  return [
    ...lengthChecks(schema, position),
    ...itemChecks(schema, position),
    ...containsCheck(schema, position),
  ]
}

function lengthChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  const [least, most] = ['minItems', 'maxItems'].map((keyword) => limitOf(schema, keyword, position))
  const checks: Check[] = []
  if (least !== undefined)
    checks.push(
      onArrays(({ length }, path) =>
        length < least ? [{ path, says: `must have at least ${least} items` }] : undefined,
      ),
    )
  if (most !== undefined)
    checks.push(
      onArrays(({ length }, path) =>
        length > most ? [{ path, says: `must have at most ${most} items` }] : undefined,
      ),
    )
  if (schema['uniqueItems'] === true)
    checks.push(
      onArrays((items, path, run) => {
        run.spend(sizeOf(items) / 4)
        return new Set(items.map(canonical)).size === items.length
          ? undefined
          : [{ path, says: 'must not have the same item twice' }]
      }),
    )
  return checks
}

function itemChecks(schema: JsonObject, { compiler, location, depth }: SchemaPosition): Check[] {
  const { prefixItems, items } = schema
  // Before 2020-12, `items` as a list was today's `prefixItems`, and `additionalItems` was today's `items`.
  const isOlder = prefixItems === undefined && Array.isArray(items)
  const [tuple, rest] = isOlder ? ['items', 'additionalItems'] : ['prefixItems', 'items']
  const given = schema[tuple]
  if (given !== undefined && !Array.isArray(given)) throw new Error(`${location}/${tuple} must be a list`)
  const first = (given ?? []).map((inner, index) =>
    compiler.check(inner, `${location}/${tuple}/${index}`, depth + 1),
  )
  const others =
    schema[rest] === undefined ? undefined : compiler.check(schema[rest], `${location}/${rest}`, depth + 1)
  if (first.length === 0 && others === undefined) return []
  return [
    onArrays((values, path, run) => {
      for (const [index, value] of values.entries()) {
        const check = first[index] ?? others
        if (check === undefined) return undefined
        const misfit = check(value, `${path}.${index}`, run)
        if (misfit !== undefined) return misfit
      }
      return undefined
    }),
  ]
}

function containsCheck(schema: JsonObject, position: SchemaPosition): Check[] {
  if (schema['contains'] === undefined) return []
  const location = `${position.location}/contains`
  const check = position.compiler.check(schema['contains'], location, position.depth + 1)
  const least = limitOf(schema, 'minContains', position) ?? 1
  const most = limitOf(schema, 'maxContains', position) ?? Number.POSITIVE_INFINITY
  return [
    onArrays((values, path, run) => {
      const found = values.filter((value) => check(value, path, run) === undefined).length
      if (found < least) return [{ path, says: `must contain ${least} items that fit ${location}` }]
      if (found > most) return [{ path, says: `must contain at most ${most} items that fit ${location}` }]
      return undefined
    }),
  ]
}

function onArrays(
  check: (items: readonly Json[], path: string, run: Run) => readonly Misfit[] | undefined,
): Check {
  return (value, path, run) => (Array.isArray(value) ? check(value, path, run) : undefined)
}
