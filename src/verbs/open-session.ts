import * as z from 'zod'
import { amounts } from './shapes/allowance.ts'
import { sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

/** Opening an open session changes nothing. */
export const openSession = verb({
  summary: 'Opens a session.',
  route: 'PUT /sessions/{session}',
  needs: 'operate',
  input: z.strictObject({
    session: sessionId,
    label: z.string().min(1).max(200).exactOptional(),
    allowance: amounts.exactOptional().describe('what all of its processes together may use'),
  }),
  output: session,
  codes: ['session_ended', 'denied'],
})
