import * as z from 'zod'
import { policyProblem } from './shapes/policy-file.ts'
import { verb } from './verb.ts'

export const checkPolicy = verb({
  summary: 'Checks the text of a policy file: its form, its rules and their examples.',
  description: 'It changes nothing.',
  route: 'POST /policies/check',
  needs: 'read',
  repeat: 'always',
  input: () =>
    z.strictObject({
      text: z
        .string()
        .max(256 * 1024)
        .describe('the content of the file'),
    }),
  output: () =>
    z.strictObject({
      rules: z.array(z.string()).describe('each in one line'),
      problems: z.array(policyProblem),
    }),
  codes: [],
})
