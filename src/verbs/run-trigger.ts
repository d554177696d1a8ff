import * as z from 'zod'
import { record } from './shapes/record.ts'
import { replayKey } from './shapes/scalars.ts'
import { testBody, triggerId } from './shapes/trigger.ts'
import { type RepeatKey, verb } from './verb.ts'

const runKey: RepeatKey = { keys: ['idempotencyKey'], generated: 'always' }

export const runTrigger = verb({
  summary: 'Starts the process of a trigger now, as a test.',
  description:
    'It runs besides the occurrences of the trigger. The body is in its payload, as that of a webhook is.',
  route: 'POST /triggers/{trigger}/run',
  needs: 'operate',
  repeat: runKey,
  idempotencyHeader: true,
  input: () =>
    z.strictObject({
      trigger: triggerId,
      body: testBody.optional(),
      idempotencyKey: replayKey.exactOptional(),
    }),
  output: () => z.strictObject({ record: record.describe('the process') }),
  codes: [
    'not_found',
    'denied',
    'session_ended',
    'too_many_commands',
    'limit_exceeded',
    'conflict',
    'payload_too_large',
    'pruned_pid',
  ],
})
