import { expect, test } from 'vitest'
import { didYouMean, nearestName } from '../../src/base/nearest-name.ts'

const NAMES = ['ps', 'logs', 'restart', 'kill', 'timeoutMs']

test.each([
  ['pss', 'ps'],
  ['lgos', 'logs'],
  ['restrat', 'restart'],
  ['Kil', 'kill'],
  ['timeout', 'timeoutMs'],
  ['resting', 'restart'],
])('%s is taken for %s', (given, meant) => {
  expect(nearestName(given, NAMES)).toBe(meant)
})

test.each(['deploy', 'x', 'tim', ''])('%j is taken for no other name', (given) => {
  expect(nearestName(given, NAMES)).toBeUndefined()
})

test('the question follows a sentence, and is empty if no name is near', () => {
  expect([didYouMean('pss', NAMES), didYouMean('deploy', NAMES)]).toEqual([' Did you mean ps?', ''])
})
