import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { decodeValue, encodeValue, type Json } from 'reeve'
import { expect, test } from 'vitest'

const throughJson = (value: unknown) => decodeValue(JSON.parse(JSON.stringify(encodeValue(value))) as Json)

const text = fc.string({ unit: 'grapheme' })
const key = fc.oneof(text, fc.constantFrom('$reeve', 'value', '__proto__', 'constructor', 'name', 'code'))

/** Values of every stored type, nested; objects that look like encodings among them. */
const value = fc.letrec((again) => ({
  leaf: fc.oneof(
    ...[fc.constant(null), fc.constant(undefined), fc.boolean(), text, fc.bigInt(), fc.integer()],
    fc.double().map((number) => (number === 0 ? 0 : number)),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.constantFrom('undefined', 'number', 'bigint', 'Date', 'Map', 'Set', 'Uint8Array', 'Error', 'object'),
  ),
  error: fc
    .tuple(text, fc.option(fc.oneof(text, fc.integer())), fc.option(again('value')))
    .map(([message, code, cause]) => {
      const error = new RangeError(message, cause === null ? undefined : { cause })
      return code === null ? error : Object.assign(error, { code })
    }),
  value: fc.oneof(
    { maxDepth: 4 },
    again('leaf'),
    fc.array(again('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, again('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    fc.array(fc.tuple(again('value'), again('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(again('value'), { maxLength: 4 }).map((items) => new Set(items)),
    again('error'),
  ),
})).value

test('every value of the storable types reads back unchanged from its JSON text', () => {
  fc.assert(
    fc.property(value, (given) => {
      // Compares prototypes; vitest compares members called `constructor`.
      deepStrictEqual(throughJson(given), given)
    }),
    { numRuns: 500 },
  )
})

/** As it is read from a text: without -0, which JSON does not tell from 0. */
const json = fc.jsonValue({ maxDepth: 4 }).map((given) => JSON.parse(JSON.stringify(given)) as Json)

test('plain JSON is stored and read unchanged', () => {
  fc.assert(
    fc.property(json, (given) => {
      fc.pre(!JSON.stringify(given).includes('$reeve'))
      expect(encodeValue(given)).toBe(given)
      expect(decodeValue(given as Json)).toBe(given)
    }),
  )
})

test('the encodings are as documented', () => {
  const error = Object.assign(new TypeError('no', { cause: 'why' }), { code: 'E_NO' })
  expect(
    encodeValue([
      ...[undefined, Number.NaN, 10n, new Date('2026-01-31T12:00:00Z'), new Date(Number.NaN)],
      ...[new Map([['a', 1]]), new Set([2]), new Uint8Array([1, 2, 255]), Buffer.from('hi'), error, -0],
      { $reeve: 'Date', value: '2026' },
    ]),
  ).toEqual([
    { $reeve: 'undefined' },
    { $reeve: 'number', value: 'NaN' },
    { $reeve: 'bigint', value: '10' },
    { $reeve: 'Date', value: '2026-01-31T12:00:00.000Z' },
    { $reeve: 'Date', value: null },
    { $reeve: 'Map', value: [['a', 1]] },
    { $reeve: 'Set', value: [2] },
    { $reeve: 'Uint8Array', value: 'AQL/' },
    { $reeve: 'Uint8Array', value: 'aGk=' },
    { $reeve: 'Error', name: 'TypeError', message: 'no', code: 'E_NO', cause: 'why' },
    0,
    { $reeve: 'object', value: { $reeve: 'Date', value: '2026' } },
  ])
})

test('an error keeps class, name, code, cause and the errors of an aggregate', () => {
  const own = Object.assign(new Error('closed'), { name: 'SocketError', code: 'ECONNRESET' })
  const read = throughJson(new AggregateError([own, new TypeError('t')], 'all', { cause: own }))
  expect(read).toBeInstanceOf(AggregateError)
  expect(read).toMatchObject({ name: 'AggregateError', message: 'all', cause: { code: 'ECONNRESET' } })
  const [first, second] = (read as AggregateError).errors
  expect(first).toMatchObject({ name: 'SocketError', message: 'closed', code: 'ECONNRESET' })
  expect(Object.keys(first as object)).toEqual(['code'])
  expect(second).toBeInstanceOf(TypeError)
})

test('an older value that has the tag but not the shape of an encoding reads back unchanged', () => {
  const stored: Json[] = [
    { $reeve: 'Date', value: 'yesterday' },
    { $reeve: 'Date', value: '2026-01-31T12:00:00.000Z', zone: 'UTC' },
    { $reeve: 'undefined', value: 1 },
    { $reeve: 'number', value: '7' },
    { $reeve: 'bigint', value: '1.5' },
    { $reeve: 'bigint', value: '007' },
    { $reeve: 'Map', value: [['a']] },
    { $reeve: 'Set', value: {} },
    { $reeve: 'Uint8Array', value: 'x' },
    { $reeve: 'Error', name: 'E' },
    { $reeve: 'object', value: { a: 1 } },
    { $reeve: 'something else', value: 1 },
    { $reeve: 1 },
  ]
  for (const json of stored) {
    expect(decodeValue(json)).toBe(json)
    expect(throughJson(json)).toEqual(json)
  }
})

test('a value that cannot be stored is refused, with its path', () => {
  class Money {
    readonly cents = 5
  }
  const circle: { self?: unknown } = {}
  circle.self = [circle]
  let deep: unknown = 1
  for (let level = 0; level < 600; level++) deep = new Map([[level, deep]])
  let wide: unknown = 1
  for (let level = 0; level < 40; level++) wide = [wide, wide]
  const refused: [unknown, string][] = [
    [{ a: [() => 1] }, 'the value at /a/0 is a function'],
    [{ a: Symbol('s') }, 'the value at /a is a symbol'],
    [{ [Symbol('s')]: 1 }, 'the value has a symbol as a key'],
    [{ price: new Money() }, 'the value at /price is an instance of the class Money'],
    [
      new Map([['u', new URL('http://a.b')]]),
      'the value at /entries/0/value is an instance of the class URL',
    ],
    [Promise.resolve(1), 'the value is an instance of the class Promise'],
    [new (class extends Map {})(), 'the value is not a plain object'],
    [new Float64Array(1), 'the value is an instance of the class Float64Array'],
    [circle, 'the value at /self/0 refers to an object that contains it'],
    ['\ud800', 'the value holds half of a surrogate pair'],
    [{ '\ud800': 1 }, 'the value has a key with half of a surrogate pair'],
    [new Error('no', { cause: () => 1 }), 'the value at /cause is a function'],
    [deep, 'is nested more than 500 deep'],
    [wide, 'has more than 1048576 parts'],
  ]
  for (const [given, why] of refused)
    expect(() => encodeValue(given), why).toThrow(
      expect.objectContaining({ code: 'unstorable_value', message: expect.stringContaining(why) }),
    )
})

test('an object that occurs twice is no cycle', () => {
  const shared = { when: new Date(0) }
  expect(throughJson([shared, shared])).toEqual([shared, shared])
})
