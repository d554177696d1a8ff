import * as z from 'zod'
import { sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

export const endSession = verb({
  summary: 'Ends a session, and stops the processes whose lifetime it is.',
  route: 'POST /sessions/{session}/end',
  needs: 'operate',
  repeat: 'always',
  input: z.strictObject({ session: sessionId }),
  output: session,
  codes: ['session_unknown', 'denied'],
})
