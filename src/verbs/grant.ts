import * as z from 'zod'
import { json } from './shapes/json.ts'
import { processRefs, reason, sessionId } from './shapes/scalars.ts'
import { grantShape } from './shapes/session.ts'
import { verb } from './verb.ts'

export const grant = verb({
  summary: 'Makes processes visible to a session.',
  description: 'A grant gives no right but to see. All processes are granted, or none.',
  route: 'POST /sessions/{session}/grants',
  needs: 'operate',
  input: () =>
    z.strictObject({
      session: sessionId,
      pids: processRefs,
      descriptor: json.optional().describe('stored with each grant, for the session'),
      reason: reason.exactOptional(),
    }),
  output: () => z.strictObject({ grants: z.array(grantShape) }),
  codes: ['session_unknown', 'session_ended', 'unknown_pid', 'ambiguous_pid', 'denied'],
})
