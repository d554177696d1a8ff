import * as z from 'zod'
import { amounts, budgetShape } from './shapes/allowance.ts'
import { processRef, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const charge = verb({
  summary: 'Charges a process for work: before the work, so that too much is refused, or after it.',
  description: 'It changes the account of this process only, and no account above it.',
  route: 'POST /processes/{pid}/charge',
  needs: 'operate',
  repeat: { keys: ['replayKey'] },
  input: () =>
    z.strictObject({
      pid: processRef,
      amounts: amounts.describe('how much of each to charge'),
      done: z
        .boolean()
        .default(false)
        .describe('the work is done: exceeding a limit ends the process, with the reason limit:<name>'),
      replayKey: replayKey.exactOptional().describe('calls under the same key are charged once'),
    }),
  output: () =>
    budgetShape.omit({ total: true }).extend({
      ended: z.boolean().describe('it exceeded a limit, and has ended or is being stopped'),
    }),
  codes: [
    'unknown_pid',
    'ambiguous_pid',
    'pruned_pid',
    'already_ended',
    'denied',
    'limit_exceeded',
    'invalid_input',
    'replay_conflict',
  ],
})
