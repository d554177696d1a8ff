import * as z from 'zod'
import { json } from './shapes/json.ts'
import { count, eventTypeName, pid, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Over one process or several: all of them, or none. What somebody executes is written by its executor alone. */
export const append = verb({
  summary: 'Appends events of types that their processes declared.',
  route: 'POST /events',
  needs: 'operate',
  input: z.strictObject({
    events: z
      .array(
        z.strictObject({ pid, type: eventTypeName, payload: json, replayKey: replayKey.exactOptional() }),
      )
      .min(1)
      .max(1_000),
  }),
  output: z.strictObject({
    events: z.array(z.strictObject({ how: z.enum(['appended', 'replayed']), pid: z.string(), seq: count })),
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
