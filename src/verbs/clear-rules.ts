import * as z from 'zod'
import { ruleSubject } from './shapes/rule.ts'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const clearRules = verb({
  summary: 'Removes all rules of a subject, and opens its set again.',
  route: 'POST /policies/clear',
  needs: 'admin',
  asPerson: 'if_known',
  repeat: 'always',
  input: () => z.strictObject({ from: ruleSubject }),
  output: () => z.strictObject({ subject: z.string(), removed: count }),
  codes: ['conflict', 'invalid_rule', 'denied'],
})
