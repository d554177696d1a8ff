import { expect, test } from 'vitest'
import { parseLocated } from '../../../src/core/json/located-json.ts'

test('a value is read as JSON.parse reads it', () => {
  const text = '\n{ "a": [1, -2.5e3, "\\u00e4\\n", true, false, null, {}, []], "": { "__proto__": 1 } }\n'
  const read = parseLocated(text)
  expect(read.type === 'json' && read.value).toEqual(JSON.parse(text))
})

test('each value has the line of its key, and a missing one that of its parent', () => {
  const read = parseLocated(
    '{\n  "rules": [\n    { "effect": "ask" },\n    {\n      "effect":\n "deny" }\n  ]\n}',
  )
  if (read.type !== 'json') throw new Error(read.message)
  const { lineOf } = read
  expect(lineOf([])).toBe(1)
  expect(lineOf(['rules'])).toBe(2)
  expect(lineOf(['rules', 0, 'effect'])).toBe(3)
  expect(lineOf(['rules', 1])).toBe(4)
  expect(lineOf(['rules', 1, 'effect'])).toBe(5)
  expect(lineOf(['rules', 1, 'resource'])).toBe(4)
  expect(lineOf(['rules', 7])).toBe(2)
})

test.each([
  ['{\n"a": 1,\n}', 3, 'a key in double quotes'],
  ['{\n"a": 1\n"b": 2 }', 3, 'a comma or }'],
  ['[1,\n2', 2, 'the file ends'],
  ['{ "a" 1 }', 1, 'a colon'],
  ['\n\n', 3, 'the file ends'],
  ['{}\nx', 2, 'the end of the file'],
  ['["\n"]', 1, 'not closed'],
  ['["\\x"]', 1, 'wrong escape'],
  ['[01]', 1, 'a comma or ]'],
  ['{\n"a": 1,\n"a": 2 }', 3, 'occurs twice'],
  ['[nul]', 1, 'a value'],
  [`${'['.repeat(100)}${']'.repeat(100)}`, 1, 'deeper than 64'],
])('%j is wrong in line %i', (text, line, said) => {
  expect(parseLocated(text)).toMatchObject({ type: 'problem', line, message: expect.stringContaining(said) })
})
