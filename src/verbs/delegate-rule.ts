import * as z from 'zod'
import { holdingSubject, newRuleCodes, ruleJson, shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const delegateRule = verb({
  summary: 'Passes on an allow that a session or process holds, only narrower.',
  description:
    'The held rule must be delegable. The new one counts only while every rule of its chain does. Sessions and processes pass on what they hold to what they own; the host and people name the holder in from.',
  route: 'POST /policies/delegations',
  needs: 'operate',
  asPerson: 'if_known',
  input: () =>
    z.strictObject({
      from: holdingSubject.exactOptional(),
      to: holdingSubject,
      rule: ruleJson,
    }),
  output: () => shownRule,
  codes: [...newRuleCodes],
})
