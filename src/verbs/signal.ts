import * as z from 'zod'
import { osSignal } from './shapes/command-spec.ts'
import { record } from './shapes/record.ts'
import { processRef, reason, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/**
 * `cancel` asks, and `kill` does not wait for an answer; both go down the tree, past children that are to survive.
 * `interrupt` asks this one process. An OS signal, `SIGHUP` say, goes to a command's program as it is, and what that does is up to the program.
 * `signalled`: it was reached. `recorded`: the stop of an external process is on record, and nothing here could deliver it.
 */
export const signal = verb({
  summary: 'Pauses, resumes, interrupts, cancels or kills a process, or sends its program an OS signal.',
  route: 'POST /processes/{pid}/signal',
  needs: 'operate',
  input: z.strictObject({
    pid: processRef,
    signal: z.union([
      z.enum(['pause', 'resume', 'interrupt', 'cancel', 'kill']),
      osSignal('must be pause, resume, interrupt, cancel or kill, or the name of an OS signal, like SIGHUP'),
    ]),
    to: z
      .enum(['process', 'group'])
      .default('process')
      .describe('of an OS signal: the program, or its whole group'),
    reason: reason.exactOptional(),
    replayKey: replayKey.exactOptional(),
  }),
  output: z.strictObject({
    answer: z.enum(['signalled', 'recorded', 'unchanged', 'already_ended', 'unrecorded']),
    record,
  }),
  codes: [
    ...(['unknown_pid', 'ambiguous_pid', 'already_ended', 'not_paused', 'stopping', 'denied'] as const),
    ...(['not_command', 'not_served', 'not_ours', 'not_begun'] as const),
  ],
})
