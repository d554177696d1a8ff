import * as z from 'zod'
import { inherited } from './shapes/inherited.ts'
import { record } from './shapes/record.ts'
import { duration, processRef, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** A new process with a pid of its own, `restartOf` the old one and with its name. The old one is ended first. */
export const restart = verb({
  summary: 'Starts what a process ran once more, as a new process.',
  route: 'POST /processes/{pid}/restart',
  needs: 'operate',
  input: z.strictObject({
    pid: processRef,
    graceMs: duration.exactOptional(),
    idempotencyKey: replayKey
      .exactOptional()
      .describe('the same key of the same caller is the same restart, and answers with its process'),
    inherited: inherited
      .exactOptional()
      .describe(
        'of a command with spec.inheritEnv: what it runs in now, instead of what it was started with',
      ),
  }),
  output: z.strictObject({ record }),
  codes: [
    ...([
      'unknown_pid',
      'ambiguous_pid',
      'pruned_pid',
      'denied',
      'survived',
      'not_ours',
      'invalid_input',
      'environment_unknown',
    ] as const),
    ...([
      'limit_exceeded',
      'too_many_commands',
      'session_ended',
      'turn_ended',
      'stopping',
      'already_ended',
      'conflict',
    ] as const),
  ],
})
