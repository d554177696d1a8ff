import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { record } from './shapes/record.ts'
import { processRef, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const restoreAgent = verb({
  summary: 'Continues the session of an agent that has ended, as a new agent.',
  description:
    'The new agent has a pid of its own and `restartOf` set to the old one. Its session goes on where that of the old one ended: its model reads the whole session, and turns are numbered on. The earlier log is referred to, not copied, and is kept as long as the new agent lives. Inputs that still waited are not taken over.',
  route: 'POST /agents/{pid}/restore',
  needs: 'operate',
  repeat: { keys: ['idempotencyKey'], generated: 'always' },
  input: () =>
    z.strictObject({
      pid: processRef.describe('the agent that has ended: a pid or a name'),
      goal: z
        .string()
        .min(1)
        .max(100_000)
        .exactOptional()
        .describe('its first input; without one it waits for an input'),
      idempotencyKey: replayKey
        .exactOptional()
        .describe('calls of one caller under the same key are one restore, and answer with its agent'),
    }),
  output: () =>
    z.strictObject({
      type: z
        .enum(['started', 'existing', 'asked'])
        .describe('started: it is up; existing: the request was made before; asked: a person decides first'),
      record: record.describe('the new agent'),
    }),
  codes: [
    ...processCodes,
    'not_restorable',
    'owned_elsewhere',
    'invalid_request',
    'not_available',
    'conflict',
    'already_ended',
    'stopping',
    'depth_exceeded',
    'limit_exceeded',
    'session_ended',
    'session_unknown',
    'untrusted',
    'name_in_use',
  ],
})
