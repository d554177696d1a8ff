import * as z from 'zod'
import { ruleSubject, shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const removeRule = verb({
  summary: 'Removes a rule, from the next check on.',
  description: 'A set that was closed by an allow stays closed.',
  route: 'POST /policies/rules/{id}/remove',
  needs: 'admin',
  asPerson: 'if_known',
  input: z.strictObject({
    id: z.string().trim().min(1).max(200).describe('the id of the rule'),
    from: ruleSubject,
  }),
  output: shownRule,
  codes: ['not_found', 'conflict', 'denied'],
})
