import * as z from 'zod'
import { json } from './shapes/json.ts'
import { count, eventTypeName, pid, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const append = verb({
  summary: 'Appends events of types that their processes declared.',
  description:
    'Over one process or several: all events are appended, or none. Only its executor may append to a process that is being executed.',
  route: 'POST /events',
  needs: 'operate',
  input: () =>
    z.strictObject({
      events: z
        .array(
          z.strictObject({
            pid,
            type: eventTypeName.describe('a type that the process declared'),
            payload: json.describe('fits the schema of the type'),
            replayKey: replayKey.exactOptional(),
          }),
        )
        .min(1)
        .max(1_000)
        .describe('the events, in their order'),
    }),
  output: () =>
    z.strictObject({
      events: z.array(
        z.strictObject({ type: z.enum(['appended', 'replayed']), pid: z.string(), seq: count }),
      ),
    }),
  codes: [
    'unknown_pid',
    'already_ended',
    'not_holding',
    'undeclared_event',
    'payload_mismatch',
    'payload_too_large',
    'replay_key_required',
    'replay_conflict',
    'denied',
  ],
})
