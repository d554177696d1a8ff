import * as z from 'zod'
import { amounts, budgetShape } from './shapes/allowance.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Touches the account of this one process, and none above it. */
export const charge = verb({
  summary: 'Charges a process for work: before it, so that too much is refused; or after it.',
  route: 'POST /processes/{pid}/charge',
  needs: 'operate',
  input: z.strictObject({
    pid: processRef,
    amounts,
    done: z
      .boolean()
      .default(false)
      .describe('the work has been done: too much of it ends the process, with the reason limit:<name>'),
  }),
  output: budgetShape.omit({ total: true }).extend({
    /** It had too much, and is ended for that. */
    ended: z.boolean(),
  }),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'already_ended', 'denied', 'limit_exceeded'],
})
