import * as z from 'zod'
import { json } from './shapes/json.ts'
import { processRef, signalName } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const send = verb({
  summary: 'Sends a named signal with a value to a process.',
  description:
    'The n-th wait on a name gets the n-th signal of that name, whichever came first. Signals with the same id are one signal.',
  route: 'POST /processes/{pid}/send',
  needs: 'operate',
  repeat: {
    keys: ['id'],
    generated: 'always',
    answer: { member: 'type', replayed: 'replayed', first: 'sent' },
  },
  input: () =>
    z.strictObject({
      pid: processRef,
      name: signalName,
      value: json.optional().describe('what the wait answers with'),
      id: z.string().min(1).max(200).exactOptional().describe('signals with the same id are one signal'),
    }),
  output: () => z.strictObject({ type: z.enum(['sent', 'replayed']), id: z.string() }),
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
