import * as z from 'zod'
import { amounts, budgetShape } from './shapes/allowance.ts'
import { processRef, replayKey } from './shapes/scalars.ts'
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
    replayKey: replayKey.exactOptional().describe('repeated under the same key it is charged once'),
  }),
  output: budgetShape.omit({ total: true }).extend({
    ended: z.boolean().describe('it had too much, and has ended or is being stopped for that'),
  }),
  codes: [
    ...(['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'already_ended', 'denied'] as const),
    ...(['limit_exceeded', 'invalid_input', 'replay_conflict'] as const),
  ],
})
