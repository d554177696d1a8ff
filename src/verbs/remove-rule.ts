import * as z from 'zod'
import { ruleId, ruleSubject, shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const removeRule = verb({
  summary: 'Removes a rule, from the next check on.',
  description:
    'Answers for longer that people gave to its requests are removed with it. A set that was closed by an allow stays closed; clearRules opens it.',
  route: 'POST /policies/rules/{id}/remove',
  needs: 'admin',
  asPerson: 'if_known',
  input: () => z.strictObject({ id: ruleId, from: ruleSubject }),
  output: () =>
    shownRule.extend({
      alsoRemoved: z.array(shownRule).describe('the rules that answers to its requests had stored'),
    }),
  codes: ['not_found', 'conflict', 'denied'],
})
