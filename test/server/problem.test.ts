import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type ErrorCode, ReeveError } from '../../src/core/errors.ts'
import { problemOf, problemResponse } from '../../src/server/problem.ts'

test('what nobody foresaw says nothing of the inside', async () => {
  const response = problemResponse(new Error('password is hunter2'))
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('hunter2')
})

test('the status of a door code is the one that the page of codes says', () => {
  const page = readFileSync('docs/errors.md', 'utf8')
  const doors = [...page.matchAll(/^\| `(?<code>[a-z_]+)` \| (?<status>\d{3}) \|/gm)]
  expect(doors.length).toBeGreaterThan(8)
  for (const { groups } of doors) {
    const code = groups?.['code'] as ErrorCode
    const { status } = problemOf(new ReeveError(code, 'said', 'done'))
    expect([code, status]).toEqual([code, Number(groups?.['status'])])
  }
})

test('details that are no JSON are left out, and the rest is said all the same', async () => {
  const details: Record<string, unknown> = { big: 1n }
  const response = problemResponse(new ReeveError('conflict', 'said', 'done', { details }))
  expect(await response.json()).toMatchObject({ status: 409, code: 'conflict', details: {} })
})
