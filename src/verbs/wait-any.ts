import * as z from 'zod'
import { record } from './shapes/record.ts'
import { duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const waitAny = verb({
  summary: 'Waits until one of several processes has ended.',
  route: 'POST /wait-any',
  needs: 'read',
  input: z.strictObject({ pids: z.array(processRef).min(1).max(1_000), timeoutMs: duration.exactOptional() }),
  output: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('ended'), record }),
    z.strictObject({ type: z.literal('timed_out') }),
    z.strictObject({ type: z.literal('interrupted') }),
  ]),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'],
})
