import * as z from 'zod'
import { holdingSubject, ruleId, shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const revokeDelegated = verb({
  summary: 'Takes back a rule that was delegated, from the next check on.',
  description:
    'What was passed on from it no longer counts either. Sessions and processes take back what they passed on.',
  route: 'POST /policies/delegations/{id}/revoke',
  needs: 'operate',
  asPerson: 'if_known',
  input: () => z.strictObject({ id: ruleId, to: holdingSubject }),
  output: () => shownRule,
  codes: ['not_found', 'conflict', 'denied'],
})
