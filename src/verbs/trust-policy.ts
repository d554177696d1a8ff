import * as z from 'zod'
import { policyFileShape } from './shapes/policy-file.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const trustPolicy = verb({
  summary: 'Trusts the policy file of a folder, or no longer.',
  description:
    'What the file allows counts from now on, and rules of its earlier versions no longer do. The hash is that of policyFile: a file that has changed since is refused. null: what it allows no longer counts.',
  route: 'PUT /policies/trust',
  needs: 'admin',
  asPerson: 'if_known',
  repeat: 'always',
  input: () =>
    z.strictObject({
      folder,
      hash: z
        .string()
        .min(1)
        .max(200)
        .nullable()
        .describe('of the version to trust, from policyFile; null: no longer'),
    }),
  output: () => policyFileShape,
  codes: ['not_found', 'conflict', 'policy_invalid', 'denied'],
})
