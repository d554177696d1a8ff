import * as z from 'zod'
import type { Approval } from '../../core/approval/approval.ts'
import { actor } from './actor.ts'
import { json, jsonObject } from './json.ts'
import { count, time } from './scalars.ts'

const grantOfApproval = z.enum(['once', 'process', 'session', 'always'])

const ruleRef = z.strictObject({ subject: z.string(), id: z.string(), text: z.string() })
const asker = {
  subject: actor.describe('the session or process that asks'),
  session: z.string().nullable(),
  ancestors: z.array(z.string()).describe('the processes above the one that waits, the nearest first'),
  reviewer: z.string().nullable().describe('the agent that is asked before the person'),
  priority: z.number().int(),
  reason: z.string().nullable().describe('why the asker wants it, in its own words'),
}

const request = z.discriminatedUnion('type', [
  z.strictObject({
    ...asker,
    type: z.literal('permission'),
    action: jsonObject.describe('the exact action, with every default filled in'),
    actionHash: z.string(),
    needs: z.array(z.string()).describe('the effects of the action, one line each'),
    rule: ruleRef.describe('the rule that asks'),
    justification: z.string().nullable().describe('why the rule asks'),
    defaultToNo: z.boolean(),
    grants: z.array(grantOfApproval).describe('the grants that may be given'),
    alwaysRule: jsonObject.nullable().describe('the rule that the grant always stores'),
  }),
  z.strictObject({
    ...asker,
    type: z.literal('question'),
    text: z.string(),
    choices: z.array(z.string()).nullable(),
  }),
])

const settledBy = { by: actor, at: time }
const answer = z.discriminatedUnion('type', [
  z.strictObject({
    ...settledBy,
    type: z.literal('approved'),
    grant: grantOfApproval,
    spec: jsonObject.nullable(),
    rule: ruleRef.nullable(),
  }),
  z.strictObject({ ...settledBy, type: z.literal('denied'), advice: z.string().nullable() }),
  z.strictObject({ ...settledBy, type: z.literal('replied'), value: json }),
])

/** A request to a person, and its answer. */
export const approvalShape = z.strictObject({
  id: z.string(),
  pid: z.string().describe('the process that waits for it'),
  state: z.enum(['pending', 'answered', 'withdrawn', 'expired']),
  askedAt: time,
  person: z.string().nullable().describe('the person who is asked; null if any person may answer'),
  expiresAt: time.nullable(),
  pushAt: count.nullable(),
  request,
  answer: answer.nullable(),
}) as z.ZodType<Approval>
export const approvalId = z.string().trim().min(1).max(200).describe('the id of the approval')
/** The answer settled it, or it was settled before. */
export const settlement = z.strictObject({
  type: z
    .enum(['settled', 'settled_before'])
    .describe('settled_before: an earlier answer counts, and this one changed nothing'),
  approval: approvalShape,
})
