import * as z from 'zod'
import { policyFileShape } from './shapes/policy-file.ts'
import { shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const policies = verb({
  summary: 'Lists the rules about the effects of sessions and processes.',
  route: 'GET /policies',
  needs: 'admin',
  input: () => z.strictObject({}),
  output: () =>
    z.strictObject({
      rules: z.array(shownRule),
      files: z.array(policyFileShape).describe('the policy files of workspaces that are known'),
    }),
  codes: ['denied'],
})
