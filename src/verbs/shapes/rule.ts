import * as z from 'zod'
import { RIGHTS } from '../../core/capability/right.ts'
import { EFFECTS, type Rule } from '../../core/capability/rule.ts'
import { jsonObject } from './json.ts'
import { folder, pid, sessionId } from './scalars.ts'

const ofSession = z.strictObject({ type: z.literal('session'), session: sessionId })
const ofProcess = z.strictObject({ type: z.literal('process'), pid })

/** The subject whose rules are changed. */
export const ruleSubject = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('home') }),
    z.strictObject({ type: z.literal('workspace'), folder }),
    ofSession,
    ofProcess,
  ])
  .default({ type: 'home' })
  .describe(
    'home: every session and process of this home; workspace: those that work in a folder; session: one session; process: one process and everything below it',
  )

/** A subject that holds rules itself, and can pass them on. */
export const holdingSubject = z
  .discriminatedUnion('type', [ofSession, ofProcess])
  .describe('a session, or a process')

export const ruleId = z.string().trim().min(1).max(200).describe('the id of the rule')

export const ruleJson = jsonObject.describe(
  'effect (allow, ask, deny), resource (as in shell:git push, tool:deploy, fs:src/**), and optionally rights, constraints, requestable, reviewer, justification, match, nonmatch, hosts, expiresAt, uses, delegable, revocable, answerWithinMs (of an ask)',
)

/** A rule as it is stored. */
export const storedRule = z.looseObject({
  id: z.string(),
  effect: z.enum(EFFECTS),
  rights: z.array(z.enum(RIGHTS)),
  resource: z.string(),
}) as z.ZodType<Rule>

export const shownRule = z.strictObject({
  subject: z
    .string()
    .describe(
      'home, workspace:<folder>, session:<id>, process:<pid>, file:<policy file>, or kept:<policy file> for rules of its earlier versions. Of another machine that shares the store: workspace:<machine>:<folder>',
    ),
  id: z.string(),
  text: z.string().describe('the rule in one line'),
  inForce: z
    .boolean()
    .describe('false: what a file allows that no person trusts, or a rule that has expired'),
  rule: jsonObject,
})

/** Of verbs that store a new rule. */
export const newRuleCodes = [
  'invalid_rule',
  'conflict',
  'limit_exceeded',
  'denied',
  'session_unknown',
  'session_ended',
  'unknown_pid',
] as const
