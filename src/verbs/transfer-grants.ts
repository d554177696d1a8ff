import * as z from 'zod'
import { processRef, sessionId } from './shapes/scalars.ts'
import { grantShape } from './shapes/session.ts'
import { verb } from './verb.ts'

/** All of them, or none if one is missing. */
export const transferGrants = verb({
  summary: 'Moves grants from one session to another.',
  route: 'POST /transfer-grants',
  needs: 'operate',
  input: z.strictObject({ from: sessionId, to: sessionId, pids: z.array(processRef).min(1).max(1_000) }),
  output: z.strictObject({ grants: z.array(grantShape) }),
  codes: ['session_unknown', 'session_ended', 'unknown_pid', 'ambiguous_pid', 'denied'],
})
