import * as z from 'zod'
import { shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const policies = verb({
  summary: 'Lists the rules about the effects of sessions and processes.',
  route: 'GET /policies',
  needs: 'admin',
  input: z.strictObject({}),
  output: z.strictObject({ rules: z.array(shownRule) }),
  codes: ['denied'],
})
