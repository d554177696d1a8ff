import * as z from 'zod'
import { newRuleCodes, ruleJson, ruleSubject, shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const addRule = verb({
  summary:
    'Adds a rule: what sessions and processes may do, may not do, or may do only when a person approves.',
  description:
    'The strictest rule that matches wins: deny, then ask, then allow. An allow closes the set: what nothing allows is then denied. No rule binds the host or people.',
  route: 'POST /policies/rules',
  needs: 'admin',
  asPerson: 'if_known',
  input: () => z.strictObject({ to: ruleSubject, rule: ruleJson }),
  output: () => shownRule,
  codes: [...newRuleCodes],
})
