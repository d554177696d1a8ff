import * as z from 'zod'
import { sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

export const endSession = verb({
  summary: 'Ends a session and the sessions below it, and stops the processes whose lifetime they are.',
  route: 'POST /sessions/{session}/end',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ session: sessionId }),
  output: () => session,
  codes: ['session_unknown', 'denied'],
})
