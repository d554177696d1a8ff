import * as z from 'zod'
import { count, duration } from './shapes/scalars.ts'
import { worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const announceWorker = verb({
  summary: 'Announces that a program is alive and serves workflows under these names.',
  description:
    'Repeat it before `ttlMs` have passed. Otherwise other workers take over the processes that it holds.',
  route: 'PUT /workers/{worker}',
  needs: 'operate',
  repeat: 'always',
  input: z.strictObject({
    worker,
    workflows: z
      .array(z.string().min(1).max(200))
      .max(1_000)
      .describe('names of the functions that it serves'),
  }),
  output: z.strictObject({
    renewMs: duration,
    ttlMs: duration,
    position: count.describe('the current position of the change feed'),
  }),
  codes: ['denied'],
})
