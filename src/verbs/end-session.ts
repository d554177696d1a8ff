import * as z from 'zod'
import { sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

export const endSession = verb({
  summary: 'Ends a session, and stops what lives as long as it does.',
  route: 'POST /sessions/{session}/end',
  needs: 'operate',
  input: z.strictObject({ session: sessionId }),
  output: session,
  codes: ['session_unknown', 'denied'],
})
