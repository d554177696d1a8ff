import * as z from 'zod'
import { sessionId } from './shapes/scalars.ts'
import { grantShape } from './shapes/session.ts'
import { verb } from './verb.ts'

export const grants = verb({
  summary: 'Lists the grants of a session.',
  route: 'GET /sessions/{session}/grants',
  needs: 'read',
  input: () => z.strictObject({ session: sessionId }),
  output: () => z.strictObject({ grants: z.array(grantShape) }),
  codes: ['denied'],
})
