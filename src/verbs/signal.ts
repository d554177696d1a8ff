import * as z from 'zod'
import { record } from './shapes/record.ts'
import { processRef, reason, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** `cancel` asks, and `kill` does not wait for an answer; both go down the tree, past children that are to survive. `interrupt` asks this one process. */
export const signal = verb({
  summary: 'Pauses, resumes, interrupts, cancels or kills a process.',
  input: z.strictObject({
    pid: processRef,
    signal: z.enum(['pause', 'resume', 'interrupt', 'cancel', 'kill']),
    reason: reason.exactOptional(),
    replayKey: replayKey.exactOptional(),
  }),
  output: z.strictObject({ answer: z.enum(['signalled', 'unchanged', 'already_ended']), record }),
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'not_paused', 'stopping', 'denied'],
})
