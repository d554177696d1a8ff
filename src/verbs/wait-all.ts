import * as z from 'zod'
import { record } from './shapes/record.ts'
import { duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** On a timeout the answer has those that have ended. */
export const waitAll = verb({
  summary: 'Waits until all of several processes have ended.',
  route: 'POST /wait-all',
  needs: 'read',
  input: z.strictObject({ pids: z.array(processRef).min(1).max(1_000), timeoutMs: duration.exactOptional() }),
  output: z.strictObject({ type: z.enum(['ended', 'timed_out', 'interrupted']), records: z.array(record) }),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'],
})
