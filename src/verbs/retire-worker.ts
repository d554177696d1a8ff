import * as z from 'zod'
import { worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const retireWorker = verb({
  summary: 'Says that a worker is gone. What it still held goes back in line.',
  route: 'DELETE /workers/{worker}',
  needs: 'operate',
  input: z.strictObject({ worker }),
  output: z.strictObject({}),
  codes: ['denied'],
})
