import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codeOf, messageOf, traceOf } from '../../src/base/error-text.ts'

test('the message of a thrown value is its text, whether it is an error or not', () => {
  expect([new TypeError('broken'), 'broken', 7, undefined].map(messageOf)).toEqual([
    'broken',
    'broken',
    '7',
    'undefined',
  ])
})

test('the trace of an error names its origin', () => {
  expect(traceOf(new Error('broken'))).toMatch(/^Error: broken\n\s+at .*error-text\.test\.ts/)
  expect(traceOf('broken')).toBe('broken')
})

test('an error of the system has a code, others have none', () => {
  expect(codeOf(thrownBy(() => readFileSync('/nonexistent')))).toBe('ENOENT')
  expect([new Error('broken'), { code: 'ENOENT' }, null].map(codeOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

function thrownBy(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}
