import { embed, type Json, type JsonObject } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function bench() {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  const declare = async (schema: JsonObject) =>
    (await reeve.spawn({ ...OUTSIDE, eventTypes: { note: { schema } } })).record.pid
  const append = (pid: string, payload: Json) => reeve.append({ events: [{ pid, type: 'note', payload }] })
  return { reeve, declare, append }
}

type Case = readonly [schema: JsonObject, fits: readonly Json[], misfits: readonly Json[]]

const tree: JsonObject = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
    },
  },
}

const conditional: JsonObject = Object.fromEntries([
  ['if', { type: 'string' }],
  ['then', { minLength: 1 }],
  ['else', { minimum: 1 }],
])

const cases: readonly Case[] = [
  [{}, [null, 1, 'a', [], {}], []],
  [{ type: 'integer', minimum: 1, maximum: 3 }, [1, 3], [0, 4, 1.5, '1', null]],
  [{ type: ['string', 'null'] }, ['a', null], [1, {}]],
  [{ exclusiveMinimum: 0, exclusiveMaximum: 1 }, [0.5, 'no number'], [0, 1]],
  [{ multipleOf: 0.1 }, [0.3, 1], [0.25]],
  [{ minLength: 2, maxLength: 3 }, ['ab', '👍👍👍', 7], ['a', 'abcd']],
  [{ pattern: '^v[0-9]+$' }, ['v12', 5], ['12', 'v']],
  [{ pattern: '\\u0041' }, ['xAx'], ['B']],
  [{ format: 'date-time' }, ['2026-01-01T00:00:00Z', 1], ['yesterday']],
  [{ format: 'something-else' }, ['anything'], []],
  [{ enum: ['a', 1, null, { b: [1] }] }, ['a', 1, null, { b: [1] }], ['b', 2, { b: [2] }, {}]],
  [{ const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, 1]],
  [
    { properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false },
    [{ a: 1 }, 'no object'],
    [{}, { a: 'x' }, { a: 1, b: 1 }],
  ],
  [
    { patternProperties: { '^n_': { type: 'number' } }, additionalProperties: { type: 'string' } },
    [{ n_a: 1, b: 'x' }],
    [{ n_a: 'x' }, { b: 1 }],
  ],
  [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
  [{ properties: { constructor: { type: 'number' } } }, [{}, { constructor: 1 }], [{ constructor: 'x' }]],
  [{ dependentRequired: { card: ['name'] } }, [{}, { card: 1, name: 2 }], [{ card: 1 }]],
  [{ dependentSchemas: { card: { required: ['name'] } } }, [{ card: 1, name: 2 }], [{ card: 1 }]],
  [{ items: { type: 'number' }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], [1, 2, 3], ['x']]],
  [{ prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [[1, 'a'], []], [['a'], [1, 2]]],
  [{ items: [{ type: 'number' }], additionalItems: false }, [[1]], [[1, 2]]],
  [
    { uniqueItems: true },
    [[1, '1', { a: 1 }]],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  [{ contains: { const: 1 }, maxContains: 2 }, [[1], [1, 1, 2]], [[], [1, 1, 1]]],
  [{ contains: { const: 1 }, minContains: 0 }, [[]], []],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5], [1]],
  [{ oneOf: [{ minimum: 1 }, { maximum: 3 }] }, [0, 4], [2]],
  [{ not: { type: 'string' } }, [1], ['a']],
  [conditional, ['a', 1], ['', 0]],
  [{ properties: { a: false } }, [{}], [{ a: 1 }]],
  [tree, [{ name: 'a', children: [{ name: 'b' }] }], [{ name: 'a', children: [{}] }, {}]],
  [
    { properties: { self: { $ref: '#' } }, maxProperties: 1 },
    [{ self: { self: {} } }],
    [{ self: { a: 1, b: 1 } }],
  ],
]

test('payloads are checked against the JSON Schema of their event type', async () => {
  const { declare, append } = await bench()
  for (const [schema, fits, misfits] of cases) {
    const pid = await declare(schema)
    const shown = (payload: Json) => `${JSON.stringify(payload)} against ${JSON.stringify(schema)}`
    for (const payload of fits) await expect(append(pid, payload), shown(payload)).resolves.toBeDefined()
    for (const payload of misfits)
      await expect(append(pid, payload), shown(payload)).rejects.toMatchObject({ code: 'payload_mismatch' })
  }
})

test('a misfit names the member and what it must be', async () => {
  const { declare, append } = await bench()
  const pid = await declare({ properties: { steps: { items: { type: 'number' } } } })
  await expect(append(pid, { steps: [1, 'x'] })).rejects.toThrow('steps.1 must be number, and is string')
})

test.for([
  ['pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
  ['patternProperties', { patternProperties: { '^(a+)+$': false } }, { [`${'a'.repeat(40)}!`]: 1 }],
  ['propertyNames', { propertyNames: { pattern: '^(a|aa)+$' } }, { [`${'a'.repeat(60)}!`]: 1 }],
] as const)(
  'an expression in %s that backtracks elsewhere is matched in linear time',
  async ([, schema, payload]) => {
    const { declare, append } = await bench()
    const pid = await declare(schema)
    // The check is fast; with a backtracking matcher this test would not end.
    const answered = await append(pid, payload).then(
      () => 'fits',
      (error: { code: string }) => error.code,
    )
    expect(answered).toBe('patternProperties' in schema ? 'fits' : 'payload_mismatch')
  },
)

const nested = (depth: number): JsonObject =>
  Array.from({ length: depth }).reduce<JsonObject>((inner) => ({ items: inner }), {})
const doubling: JsonObject = Object.fromEntries(
  Array.from({ length: 25 }, (_, at) => [
    `d${at}`,
    at === 24
      ? { type: 'string' }
      : { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
  ]),
)

test.for<readonly [name: string, schema: JsonObject, says: RegExp]>([
  ['refers to itself', { $ref: '#' }, /refers to itself/],
  [
    'refers to itself through others',
    { $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
    /refers to itself/,
  ],
  ['refers to nothing', { $ref: '#/$defs/none' }, /not in the schema/],
  ['refers elsewhere', { $ref: 'https://example.com/schema.json' }, /only local references/],
  ['is nested too deeply', nested(100), /nested more than 64 deep/],
  ['has too many subschemas', { anyOf: Array.from({ length: 2_001 }, () => ({})) }, /subschemas/],
  ['is too large', { enum: ['x'.repeat(70_000)] }, /bytes/],
  ['has a pattern that RE2 cannot match in linear time', { pattern: '(a)\\1' }, /pattern/],
  [
    'has patterns that are too large',
    { allOf: Array.from({ length: 20 }, () => ({ pattern: 'a{900}' })) },
    /too large/,
  ],
  ['has a keyword that is not supported', { unevaluatedProperties: false }, /unevaluatedProperties/],
  ['has a keyword of another type', { required: 'name' }, /required/],
  ['has an unknown type', { type: 'planet' }, /planet/],
])('a schema that %s is refused at registration', async ([, schema, says]) => {
  const { reeve, declare } = await bench()
  const refused = await declare(schema).then(
    () => null,
    (error: unknown) => error,
  )
  expect(refused).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(says) })
  expect((await reeve.list({})).processes).toEqual([])
})

test('a check that would take exponential work is refused as a misfit', async () => {
  const { declare, append } = await bench()
  const pid = await declare({ $ref: '#/$defs/d0', $defs: doubling })
  await expect(append(pid, 7)).rejects.toMatchObject({
    code: 'payload_mismatch',
    message: expect.stringMatching(/too many steps/),
  })
})

test('a large payload fits a plain schema', async () => {
  const { declare, append } = await bench()
  const pid = await declare({
    type: 'array',
    items: { type: 'object', properties: { n: { type: 'integer' } } },
  })
  await append(
    pid,
    Array.from({ length: 50_000 }, (_, n) => ({ n })),
  )
})

test('one call declares a bounded number of schemas', async () => {
  const { reeve } = await bench()
  const processes = Array.from({ length: 201 }, (_, maximum) => ({
    ...OUTSIDE,
    eventTypes: { note: { schema: { maximum } } },
  }))
  await expect(reeve.spawnMany({ processes })).rejects.toMatchObject({ code: 'invalid_input' })
  await reeve.spawnMany({ processes: processes.slice(1) })
})
