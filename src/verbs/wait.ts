import * as z from 'zod'
import { record } from './shapes/record.ts'
import { duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** A timeout is an answer, not an error. */
export const wait = verb({
  summary: 'Waits until a process has ended.',
  input: z.strictObject({ pid: processRef, timeoutMs: duration.exactOptional() }),
  output: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('ended'), record }),
    z.strictObject({ type: z.literal('timed_out'), record }),
    z.strictObject({ type: z.literal('interrupted') }),
  ]),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'],
})
