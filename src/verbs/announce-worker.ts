import * as z from 'zod'
import { count, duration } from './shapes/scalars.ts'
import { worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

/** Said again before `ttlMs` have passed, or others take over what it holds. */
export const announceWorker = verb({
  summary: 'Says that a program serves durable functions under these names, and that it is alive.',
  route: 'PUT /workers/{worker}',
  needs: 'operate',
  input: z.strictObject({ worker, workflows: z.array(z.string().min(1).max(200)).max(1_000) }),
  output: z.strictObject({
    renewMs: duration,
    ttlMs: duration,
    position: count.describe('the place in the change feed now'),
  }),
  codes: ['denied'],
})
