import * as z from 'zod'
import { environmentShape } from './shapes/environment.ts'
import { verb } from './verb.ts'

export const putEnvironment = verb({
  summary: 'Stores an execution environment under the hash of its content.',
  description: 'The same content has the same reference. Secrets are stored as references, not as values.',
  route: 'POST /environments',
  needs: 'operate',
  input: () => environmentShape,
  output: () => z.strictObject({ envRef: z.string() }),
  codes: ['denied', 'payload_too_large', 'session_ended', 'session_unknown'],
})
