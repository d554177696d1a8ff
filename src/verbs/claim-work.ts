import * as z from 'zod'
import { duration, pid } from './shapes/scalars.ts'
import { claimed, worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

/** What the worker holds and does not know of, as after a lost answer, is in the answer too; so is what it no longer holds. */
export const claimWork = verb({
  summary:
    'Takes the lease of workflow processes that a worker serves, and waits for some if there are none.',
  route: 'POST /workers/{worker}/claims',
  needs: 'operate',
  input: z.strictObject({
    worker,
    known: z.array(pid).max(10_000).default([]).describe('what it executes already'),
    limit: z.number().int().min(1).max(100).default(10),
    timeoutMs: duration.default(0),
  }),
  output: z.strictObject({
    work: z.array(claimed),
    lost: z.array(z.string()).describe('of what it executes: what somebody else may have by now'),
  }),
  codes: ['not_found', 'denied'],
})
