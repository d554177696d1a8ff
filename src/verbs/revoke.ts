import * as z from 'zod'
import { count, processRef, sessionId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const revoke = verb({
  summary: 'Takes grants back.',
  route: 'POST /sessions/{session}/revoke',
  needs: 'operate',
  input: z.strictObject({ session: sessionId, pids: z.array(processRef).min(1).max(1_000) }),
  output: z.strictObject({ revoked: count }),
  codes: ['unknown_pid', 'ambiguous_pid', 'denied'],
})
