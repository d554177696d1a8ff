import * as z from 'zod'
import { count, sessionId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const deleteSession = verb({
  summary: 'Deletes a session, and reports what that changed.',
  description:
    'It revokes the grants of the session, clears the wake targets that point at it and stops the processes whose lifetime it is. It changes nothing else.',
  route: 'DELETE /sessions/{session}',
  needs: 'operate',
  input: z.strictObject({ session: sessionId }),
  output: z.strictObject({
    revoked: count,
    stopped: z.array(z.string()),
    orphaned: z.array(z.string()),
    preserved: z.array(z.string()),
    noticesDropped: count,
  }),
  codes: ['session_unknown', 'denied'],
})
