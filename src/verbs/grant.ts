import * as z from 'zod'
import { json } from './shapes/json.ts'
import { processRef, sessionId } from './shapes/scalars.ts'
import { grantShape } from './shapes/session.ts'
import { verb } from './verb.ts'

/** Seeing is all that a grant gives. All of them, or none. */
export const grant = verb({
  summary: 'Makes processes visible to a session.',
  route: 'POST /sessions/{session}/grants',
  needs: 'operate',
  input: z.strictObject({
    session: sessionId,
    pids: z.array(processRef).min(1).max(1_000),
    descriptor: json.optional(),
  }),
  output: z.strictObject({ grants: z.array(grantShape) }),
  codes: ['session_unknown', 'session_ended', 'unknown_pid', 'ambiguous_pid', 'denied'],
})
