import * as z from 'zod'
import { count, processRefs, reason, sessionId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const revoke = verb({
  summary: 'Revokes grants.',
  route: 'POST /sessions/{session}/revoke',
  needs: 'operate',
  input: () => z.strictObject({ session: sessionId, pids: processRefs, reason: reason.exactOptional() }),
  output: () => z.strictObject({ revoked: count }),
  codes: ['unknown_pid', 'ambiguous_pid', 'denied'],
})
