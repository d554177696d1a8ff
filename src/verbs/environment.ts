import * as z from 'zod'
import { environmentShape } from './shapes/environment.ts'
import { verb } from './verb.ts'

export const environment = verb({
  summary: 'Reads an execution environment.',
  route: 'GET /environments/{envRef}',
  needs: 'read',
  input: () =>
    z.strictObject({ envRef: z.string().min(1).describe('the reference that putEnvironment answered') }),
  output: () => environmentShape,
  codes: ['environment_unknown', 'denied'],
})
