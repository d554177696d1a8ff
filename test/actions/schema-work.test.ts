import type { Json, JsonObject } from 'reeve'
import { afterEach, expect, test, vi } from 'vitest'
import { compileSchema } from '../../src/actions/json-schema/compile.ts'

afterEach(() => vi.restoreAllMocks())

const numbers = (length: number): number[] => Array.from({ length }, (_, at) => at)
const keys = (length: number): [string, number][] => numbers(length).map((at) => [`k${at}`, at])
const repeated = (length: number, schema: Json): Json[] => numbers(length).map(() => schema)
const members = (length: number): JsonObject => Object.fromEntries(keys(length))
const references = (keyword: string, target: JsonObject, length = 1_900): JsonObject => ({
  [keyword]: repeated(length, { $ref: '#/$defs/d' }),
  $defs: { d: target },
})

/** Each payload is so large that a check of the keyword against every part of it takes millions of steps. */
const COSTLY: Readonly<Record<string, readonly [schema: JsonObject, payload: Json]>> = {
  'anyOf of booleans': [{ items: { anyOf: [...repeated(1_900, false), true] } }, numbers(20_000)],
  'allOf of booleans': [{ items: { allOf: repeated(1_900, true) } }, numbers(20_000)],
  'oneOf of booleans': [{ items: { oneOf: [...repeated(1_900, false), true] } }, numbers(20_000)],
  'not of a boolean': [references('allOf', { items: { not: false } }), numbers(20_000)],
  'if of a boolean': [
    references('allOf', { items: Object.fromEntries(['if', 'then'].map((keyword) => [keyword, true])) }),
    numbers(20_000),
  ],
  'contains of a boolean': [references('allOf', { contains: true }), numbers(20_000)],
  'items of a boolean': [references('allOf', { items: true }), numbers(20_000)],
  'properties of booleans': [references('allOf', { properties: { k0: true } }), members(10_000)],
  'properties that miss at the first member': [
    references('anyOf', { properties: { k0: false } }),
    members(10_000),
  ],
  propertyNames: [references('allOf', { propertyNames: true }), members(10_000)],
  maxProperties: [references('allOf', { maxProperties: 10_000 }), members(10_000)],
  required: [references('allOf', { required: keys(5_000).map(([key]) => key) }, 800), members(5_000)],
  dependentRequired: [
    { items: { dependentRequired: Object.fromEntries(keys(5_000).map(([key]) => [key, []])) } },
    numbers(5_000).map(() => ({})),
  ],
  dependentSchemas: [
    { items: { dependentSchemas: Object.fromEntries(keys(1_900).map(([key]) => [key, true])) } },
    numbers(5_000).map(() => ({})),
  ],
  'const with many members': [{ contains: { const: members(5_000) } }, numbers(5_000).map(() => ({}))],
  'const with a long text': [
    references('anyOf', { const: `${'x'.repeat(20_000)}a` }, 1_500),
    `${'x'.repeat(20_000)}b`,
  ],
  'enum of objects': [
    { contains: { enum: numbers(5_000).map((at) => [at]) } },
    numbers(5_000).map((at) => ({ at })),
  ],
  uniqueItems: [references('allOf', { uniqueItems: true }), numbers(20_000)],
  maxLength: [references('allOf', { maxLength: 100_000 }), 'x'.repeat(100_000)],
  format: [references('anyOf', { format: 'email' }), 'x'.repeat(100_000)],
  pattern: [references('anyOf', { pattern: 'y' }), 'x'.repeat(100_000)],
}

test.for(Object.entries(COSTLY))(
  '%s: a check that would take too many steps stops',
  ([, [schema, payload]]) => {
    expect(compileSchema(schema)(payload)).toMatch(/too many steps/)
  },
)

test('booleans count as subschemas', () => {
  expect(() => compileSchema({ items: { anyOf: [...repeated(10_000, false), true] } })).toThrow(/subschemas/)
})

test('a type is listed once', () => {
  expect(() => compileSchema({ type: repeated(5_000, 'string') })).toThrow(/type.*twice/)
})

test.for<readonly [keyword: string, schema: JsonObject, payload: Json]>([
  ['enum', { enum: numbers(5_000).map((at) => `v${at}`) }, 'other'],
  ['const', { const: members(4_000) }, 'other'],
  ['pattern', { pattern: `"${'é'.repeat(400)}` }, 'other'],
  ['required', { required: ['n'.repeat(60_000)] }, {}],
])('the text of a misfit with %s is bounded, and not written again for each value', ([, schema, payload]) => {
  const check = compileSchema({ contains: schema })
  const text = compileSchema(schema)(payload)
  expect(text?.length).toBeLessThan(1_000)
  const written = vi.spyOn(JSON, 'stringify')
  expect(check(numbers(20).map(() => payload))).toMatch(/must contain/)
  // Sizes are counted from JSON, at most once for a payload.
  expect(written.mock.calls.length).toBeLessThan(5)
})

test('a misfit below a member with a long name cuts the name', () => {
  const check = compileSchema({ additionalProperties: { items: { anyOf: [{ type: 'string' }, false] } } })
  const text = check({ ['n'.repeat(100_000)]: [1] })
  expect(text).toMatch(/^n+….* must be string, and is number, or /)
  expect(text?.length).toBeLessThan(1_000)
})

test('alternatives within alternatives name at most three misfits', () => {
  const nested = (depth: number): JsonObject => ({
    anyOf: depth === 0 ? [{ type: 'string' }, { type: 'null' }] : [nested(depth - 1), nested(depth - 1)],
  })
  expect(compileSchema(nested(6))(1)?.split(', or ')).toHaveLength(3)
})

test('a large payload fits a schema with several keywords', () => {
  const check = compileSchema({
    type: 'array',
    maxItems: 100_000,
    items: {
      type: 'object',
      required: ['id', 'state', 'at'],
      properties: {
        id: { type: 'integer', minimum: 0 },
        state: { enum: ['open', 'done'] },
        at: { type: 'number', minimum: 0 },
      },
      additionalProperties: false,
    },
  })
  const payload = numbers(20_000).map((id) => ({ id, state: 'open', at: 1_790_000_000_000 + id }))
  expect(check(payload)).toBeUndefined()
})
