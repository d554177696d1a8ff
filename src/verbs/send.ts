import * as z from 'zod'
import { json } from './shapes/json.ts'
import { processRef, signalName } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** The n-th wait on a name gets the n-th signal of that name, whichever came first. A repeated id is one signal. */
export const send = verb({
  summary: 'Sends a named signal with a value to a process.',
  route: 'POST /processes/{pid}/send',
  needs: 'operate',
  input: z.strictObject({
    pid: processRef,
    name: signalName,
    value: json.optional(),
    id: z.string().min(1).max(200).exactOptional(),
  }),
  output: z.strictObject({ answer: z.enum(['sent', 'replayed']), id: z.string() }),
  codes: [
    'unknown_pid',
    'ambiguous_pid',
    'already_ended',
    'payload_too_large',
    'replay_conflict',
    'signals_full',
    'denied',
  ],
})
