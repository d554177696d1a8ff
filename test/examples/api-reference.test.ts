import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { apiReference } from '../../scripts/write-api-reference.ts'

test('docs/api.md is what scripts/write-api-reference.ts makes of the verbs', () => {
  expect(readFileSync('docs/api.md', 'utf8')).toBe(apiReference())
})
