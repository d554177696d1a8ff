import { expect, test } from 'vitest'
import { reviewerOf, verdictOf } from '../../../src/core/approval/review.ts'
import type { Json } from '../../../src/core/json/json.ts'
import type { Outcome } from '../../../src/core/process/record.ts'

const outcome = (status: Outcome['status'], result: Json, reason: string | null = null): Outcome => ({
  status,
  exitCode: null,
  signal: null,
  reason,
  source: null,
  result,
  evidence: null,
  startedAt: 1,
  endedAt: 2,
})

test.for([
  ['tool:check', { kind: 'tool', name: 'check' }],
  ['workflow:a.b/c', { kind: 'workflow', name: 'a.b/c' }],
  ['agent:ada', { kind: 'agent', name: 'ada' }],
  ['ada', { kind: 'agent', name: 'ada' }],
] as const)('the reviewer %s is a %j', ([text, reviewer]) => {
  expect(reviewerOf(text)).toEqual(reviewer)
})

test.for([
  [{ decision: 'approve' }, { type: 'approve', advice: null }],
  [
    { decision: 'approve', advice: 'fine', more: 1 },
    { type: 'approve', advice: 'fine' },
  ],
  [
    { decision: 'deny', advice: 'no' },
    { type: 'deny', advice: 'no' },
  ],
  [
    { decision: 'deny', advice: null },
    { type: 'deny', advice: null },
  ],
] as const)('the result %j is a decision', ([result, verdict]) => {
  expect(verdictOf(outcome('completed', result))).toEqual(verdict)
})

test.for<Json>([
  { decision: 'unsure' },
  { decision: 'APPROVE' },
  { decision: true },
  { decision: 'approve', advice: ['x'] },
  ['approve'],
  'approve',
  true,
  null,
])('after the result %j a person decides', (result) => {
  expect(verdictOf(outcome('completed', result)).type).toBe('hand_over')
})

test.for(['failed', 'cancelled', 'abandoned'] as const)(
  'after a review that %s a person decides',
  (status) => {
    const verdict = verdictOf(outcome(status, { decision: 'deny' }, 'why'))
    expect(verdict).toEqual({ type: 'hand_over', reason: `the reviewer ended as ${status}: why` })
  },
)
