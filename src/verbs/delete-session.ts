import * as z from 'zod'
import { count, sessionId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const deleteSession = verb({
  summary: 'Deletes a session and the sessions below it, and reports what that changed.',
  description:
    'It revokes the grants of these sessions, clears the wake targets that point at them and stops the processes whose lifetime they are. It changes nothing else.',
  route: 'DELETE /sessions/{session}',
  needs: 'operate',
  input: () => z.strictObject({ session: sessionId }),
  output: () =>
    z.strictObject({
      revoked: count,
      stopped: z.array(z.string()),
      orphaned: z.array(z.string()),
      preserved: z.array(z.string()),
      noticesDropped: count,
    }),
  codes: ['session_unknown', 'denied'],
})
