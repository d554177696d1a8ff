import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { inherited } from './shapes/inherited.ts'
import { record } from './shapes/record.ts'
import { duration, processRef, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const restart = verb({
  summary: 'Starts a process once more, as a new process.',
  description:
    'The new process has a pid of its own, the name of the old one, and `restartOf` set to it. The old process is ended first.',
  route: 'POST /processes/{pid}/restart',
  needs: 'operate',
  repeat: { keys: ['idempotencyKey'], generated: 'if_accepted' },
  input: () =>
    z.strictObject({
      pid: processRef,
      graceMs: duration
        .exactOptional()
        .describe('how long the old one may take to end before it is forced, in milliseconds'),
      idempotencyKey: replayKey
        .exactOptional()
        .describe('calls of one caller under the same key are one restart, and answer with its process'),
      inherited: inherited
        .exactOptional()
        .describe(
          'for a command with spec.inheritEnv: the environment of the new process, instead of that of the old one',
        ),
    }),
  output: () => z.strictObject({ record }),
  codes: [
    ...processCodes,
    'survived',
    'not_ours',
    'invalid_input',
    'environment_unknown',
    'limit_exceeded',
    'too_many_commands',
    'session_ended',
    'turn_ended',
    'stopping',
    'already_ended',
    'conflict',
    'path_held',
  ],
})
