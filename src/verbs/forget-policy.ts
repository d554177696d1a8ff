import * as z from 'zod'
import { count, folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const forgetPolicy = verb({
  summary: 'Removes the rules of a policy file, also those of its earlier versions.',
  description: 'If the file is still there, the next command in its folder loads it again, untrusted.',
  route: 'POST /policies/forget',
  needs: 'admin',
  asPerson: 'if_known',
  input: () => z.strictObject({ folder }),
  output: () => z.strictObject({ folder: z.string(), path: z.string(), removed: count }),
  codes: ['not_found', 'denied'],
})
