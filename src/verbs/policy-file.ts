import * as z from 'zod'
import { policyFileShape } from './shapes/policy-file.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const policyFile = verb({
  summary: 'Shows the policy file of a folder, or of the nearest folder above it.',
  description:
    'It says whether a person trusts the file, which of its rules would count then, and its errors.',
  route: 'GET /policies/file',
  needs: 'admin',
  input: () => z.strictObject({ folder }),
  output: () => policyFileShape,
  codes: ['not_found', 'denied'],
})
