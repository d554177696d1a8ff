import * as z from 'zod'
import { RIGHTS } from '../../core/capability/right.ts'
import { EFFECTS, type Rule } from '../../core/capability/rule.ts'
import { jsonObject } from './json.ts'
import { sessionId } from './scalars.ts'

/** The subject whose rules are changed. */
export const ruleSubject = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('home') }),
    z.strictObject({ type: z.literal('session'), session: sessionId }),
  ])
  .default({ type: 'home' })
  .describe('home: every session and process of this home; session: one session')

export const ruleJson = jsonObject.describe(
  'effect (allow, ask, deny), resource (as in shell:git push, tool:deploy, fs:src/**), and optionally rights, constraints, justification, match, nonmatch, expiresAt, uses, answerWithinMs (of an ask)',
)

/** A rule as it is stored. */
export const storedRule = z.looseObject({
  id: z.string(),
  effect: z.enum(EFFECTS),
  rights: z.array(z.enum(RIGHTS)),
  resource: z.string(),
}) as z.ZodType<Rule>

export const shownRule = z.strictObject({
  subject: z.string().describe('home, or session:<id>'),
  id: z.string(),
  text: z.string().describe('the rule in one line'),
  rule: jsonObject,
})
