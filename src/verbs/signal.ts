import * as z from 'zod'
import { STOPS } from '../core/process/record.ts'
import { osSignal } from './shapes/command-spec.ts'
import { record } from './shapes/record.ts'
import { processRef, reason, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const signal = verb({
  summary: 'Pauses, resumes, interrupts, cancels or kills a process, or sends its program an OS signal.',
  description:
    '`cancel` asks, and `kill` does not wait for an answer; both go down the tree, except to children that outlive their parent. `interrupt` asks this one process. An OS signal, for example `SIGHUP`, is sent to the program of a command, which decides what to do. The answer `signalled` means that the signal was delivered; `recorded`, that the stop of an external process is on record and could not be delivered from here.',
  route: 'POST /processes/{pid}/signal',
  needs: 'operate',
  // Every request sends the OS signal again.
  repeat: { keys: ['replayKey'], except: { member: 'signal', startsWith: 'SIG' } },
  input: () =>
    z.strictObject({
      pid: processRef,
      signal: z
        .union([
          z.enum(['pause', 'resume', ...STOPS]),
          osSignal(
            'must be pause, resume, interrupt, cancel or kill, or the name of an OS signal, like SIGHUP',
          ),
        ])
        .describe('what to send'),
      to: z
        .enum(['process', 'group'])
        .default('process')
        .describe('for an OS signal: the program, or its whole process group'),
      reason: reason.exactOptional(),
      replayKey: replayKey.exactOptional(),
    }),
  output: () =>
    z.strictObject({
      type: z.enum(['signalled', 'recorded', 'unchanged', 'already_ended', 'unrecorded']),
      record,
    }),
  codes: [
    'unknown_pid',
    'ambiguous_pid',
    'already_ended',
    'not_paused',
    'stopping',
    'denied',
    'not_command',
    'not_served',
    'not_ours',
    'not_begun',
  ],
})
