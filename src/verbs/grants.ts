import * as z from 'zod'
import { sessionId } from './shapes/scalars.ts'
import { grantShape } from './shapes/session.ts'
import { verb } from './verb.ts'

export const grants = verb({
  summary: 'Lists the grants of a session.',
  input: z.strictObject({ session: sessionId }),
  output: z.strictObject({ grants: z.array(grantShape) }),
  codes: ['denied'],
})
