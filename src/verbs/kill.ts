import * as z from 'zod'
import { record } from './shapes/record.ts'
import { duration, processRef, reason } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/**
 * Asks first, forces when the grace is over, then looks. Answers when it has ended, with the outcome it really had;
 * what could not be ended is an error that names it. While the store cannot be written, a command is ended all the same:
 * `unrecorded` says that it is gone, and that its record says so when the store can be written again.
 */
export const kill = verb({
  summary: 'Ends a process and everything it started.',
  route: 'POST /processes/{pid}/kill',
  needs: 'operate',
  input: z.strictObject({
    pid: processRef,
    graceMs: duration
      .exactOptional()
      .describe('how long it may take before it is forced; 0: it is never forced'),
    reason: reason.exactOptional(),
  }),
  output: z.strictObject({ answer: z.enum(['ended', 'already_ended', 'asked', 'unrecorded']), record }),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied', 'survived', 'not_ours'],
})
