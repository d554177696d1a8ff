import * as z from 'zod'
import { environmentShape } from './shapes/environment.ts'
import { verb } from './verb.ts'

/** The same content is the same reference. Secrets are references, not values. */
export const putEnvironment = verb({
  summary: 'Stores an execution environment under the hash of its content.',
  route: 'POST /environments',
  needs: 'operate',
  input: environmentShape,
  output: z.strictObject({ envRef: z.string() }),
  codes: ['denied', 'payload_too_large', 'session_ended', 'session_unknown'],
})
