import * as z from 'zod'
import { processRefs, reason, sessionId } from './shapes/scalars.ts'
import { grantShape } from './shapes/session.ts'
import { verb } from './verb.ts'

export const transferGrants = verb({
  summary: 'Moves grants from one session to another.',
  description: 'All grants are moved, or none if one is missing.',
  route: 'POST /transfer-grants',
  needs: 'operate',
  input: () =>
    z.strictObject({
      from: sessionId.describe('the session that loses them'),
      to: sessionId.describe('the session that gets them'),
      pids: processRefs,
      reason: reason.exactOptional(),
    }),
  output: () => z.strictObject({ grants: z.array(grantShape) }),
  codes: ['session_unknown', 'session_ended', 'unknown_pid', 'ambiguous_pid', 'denied'],
})
