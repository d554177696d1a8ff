import * as z from 'zod'
import { amounts } from './shapes/allowance.ts'
import { sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

/** Opening an open session changes nothing, unless it gives it the allowance that it does not have yet. */
export const openSession = verb({
  summary: 'Opens a session.',
  route: 'PUT /sessions/{session}',
  needs: 'operate',
  input: z.strictObject({
    session: sessionId,
    label: z.string().min(1).max(200).exactOptional(),
    allowance: amounts
      .exactOptional()
      .describe('what all of its processes together may use; the host gives it'),
  }),
  output: session,
  codes: ['session_ended', 'conflict', 'denied'],
})
