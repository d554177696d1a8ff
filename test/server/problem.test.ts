import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type ErrorCode, ReeveError } from '../../src/core/errors.ts'
import { problemOf, problemResponse } from '../../src/server/problem.ts'

test('an unexpected error reveals nothing internal', async () => {
  const response = problemResponse(new Error('password is hunter2'))
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('hunter2')
})

test('the HTTP status of a code is the one in docs/errors.md', () => {
  const page = readFileSync('docs/errors.md', 'utf8')
  const doors = [...page.matchAll(/^\| `(?<code>[a-z_]+)` \| (?<status>\d{3}) \|/gm)]
  expect(doors.length).toBeGreaterThan(8)
  for (const { groups } of doors) {
    const code = groups?.['code'] as ErrorCode
    const { status } = problemOf(new ReeveError(code, 'said', 'done'))
    expect([code, status]).toEqual([code, Number(groups?.['status'])])
  }
})

test('details that are not JSON are left out of the problem', async () => {
  const details: Record<string, unknown> = { big: 1n }
  const response = problemResponse(new ReeveError('conflict', 'said', 'done', { details }))
  expect(await response.json()).toMatchObject({ status: 409, code: 'conflict', details: {} })
})
