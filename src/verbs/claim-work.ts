import * as z from 'zod'
import { duration, pid } from './shapes/scalars.ts'
import { claimed, worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const claimWork = verb({
  summary: 'Claims the leases of workflow and tool processes that a worker serves; waits if there are none.',
  description:
    'The answer also lists processes that the worker holds without knowing it, for example after a lost answer, and processes that it no longer holds.',
  route: 'POST /workers/{worker}/claims',
  needs: 'operate',
  repeat: 'always',
  masking: 'none',
  input: () =>
    z.strictObject({
      worker,
      known: z.array(pid).max(10_000).default([]).describe('pids that it executes already'),
      limit: z.number().int().min(1).max(100).default(10).describe('the maximum number of new claims'),
      timeoutMs: duration.default(0).describe('how long to wait for work, in milliseconds'),
    }),
  output: () =>
    z.strictObject({
      work: z.array(claimed),
      lost: z.array(z.string()).describe('known pids that it no longer holds'),
    }),
  codes: ['not_found', 'denied'],
})
