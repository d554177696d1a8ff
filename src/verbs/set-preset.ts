import * as z from 'zod'
import { ruleSubject, shownRule } from './shapes/rule.ts'
import { verb } from './verb.ts'

export const setPreset = verb({
  summary: 'Gives a subject the rules of a preset, in place of those of an earlier preset.',
  description:
    'observe reads; ask reads, and asks a person for everything else; edit also writes files of the workspace; full does everything. null removes the preset, and the set is as open as its other rules leave it.',
  route: 'PUT /policies/preset',
  needs: 'admin',
  asPerson: 'if_known',
  repeat: 'always',
  input: () =>
    z.strictObject({
      to: ruleSubject,
      preset: z.string().max(100).nullable().describe('observe, ask, edit, full; null for none'),
    }),
  output: () => z.strictObject({ subject: z.string(), rules: z.array(shownRule) }),
  codes: ['invalid_rule', 'not_available', 'denied', 'session_unknown', 'session_ended', 'unknown_pid'],
})
