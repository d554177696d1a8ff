import * as z from 'zod'
import { sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

export const touchSession = verb({
  summary: 'Records that a session is in use.',
  route: 'POST /sessions/{session}/touch',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ session: sessionId }),
  output: () => session,
  codes: ['session_unknown', 'session_ended', 'denied'],
})
