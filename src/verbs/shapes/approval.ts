import * as z from 'zod'
import type { Approval } from '../../core/approval/approval.ts'
import { actor } from './actor.ts'
import { json, jsonObject } from './json.ts'
import { count, time } from './scalars.ts'

export const grantOfApproval = z.enum(['once', 'process', 'session', 'always'])

const ruleRef = z.strictObject({ subject: z.string(), id: z.string(), text: z.string() })
const asker = {
  subject: actor.describe('the session or process that asks'),
  session: z.string().nullable(),
  ancestors: z.array(z.string()).describe('the processes above the one that waits, the nearest first'),
  reviewer: z
    .string()
    .nullable()
    .describe('the tool, workflow or agent that decides before a person is asked; null if a person is asked'),
  priority: z.number().int(),
  reason: z.string().nullable().describe('why the asker wants it, in its own words'),
}

const uses = z
  .array(z.strictObject({ subject: z.string(), id: z.string() }))
  .describe('counted rules of which a use is reserved')
const fileFacts = z.strictObject({ bytes: count, hash: z.string().describe('SHA-256') })
const request = z.discriminatedUnion('type', [
  z.strictObject({
    ...asker,
    type: z.literal('permission'),
    action: jsonObject.describe('the exact action, with every default filled in'),
    actionHash: z.string(),
    variables: z
      .record(z.string(), z.string())
      .describe('the variables that the request sets, and of the others those that change which code runs'),
    change: z
      .strictObject({
        path: z.string().describe('the file, absolute'),
        before: fileFacts
          .nullable()
          .exactOptional()
          .describe('null: there is no file yet; absent: the asker has not seen the file as it is'),
        after: fileFacts,
        diff: z
          .string()
          .nullable()
          .describe('the lines that change, as a unified diff; null if they cannot be shown'),
        isCut: z.boolean().describe('the diff is not the whole change'),
      })
      .exactOptional()
      .describe(
        'of a call of a file tool: what it would make of the file, as the file was when it was asked',
      ),
    needs: z.array(z.string()).describe('the effects of the action, one line each'),
    effects: z
      .array(jsonObject)
      .exactOptional()
      .describe('the same effects as rules compare them; absent in requests of earlier versions'),
    boundBy: z
      .array(z.string())
      .exactOptional()
      .describe(
        'the subjects whose rule sets bind it, the widest first; absent in requests of earlier versions',
      ),
    rule: ruleRef.describe('the rule that asks'),
    justification: z.string().nullable().describe('why the rule asks'),
    doubt: z
      .string()
      .exactOptional()
      .describe('why it is not certain that the rule is about the action; absent if it certainly is'),
    defaultToNo: z.boolean(),
    grants: z.array(grantOfApproval).describe('the grants that may be given'),
    grantRules: z
      .strictObject({ process: z.array(jsonObject), session: z.array(jsonObject) })
      .describe('the rules that the grants process and session store'),
    alwaysRule: jsonObject.nullable().describe('the rule that the grant always stores'),
    settles: z
      .array(z.strictObject({ subject: z.string(), rule: z.string() }))
      .describe('the rules that asked: a yes answers all of them'),
    repeatHash: z.string().describe('equal for requests of the same action'),
    uses,
  }),
  z.strictObject({
    ...asker,
    type: z.literal('question'),
    text: z.string(),
    choices: z.array(z.string()).nullable(),
    uses: uses.exactOptional(),
  }),
])

const settledBy = { by: actor, at: time }
const answer = z.discriminatedUnion('type', [
  z.strictObject({
    ...settledBy,
    type: z.literal('approved'),
    grant: grantOfApproval,
    storedIn: z
      .string()
      .exactOptional()
      .describe('of always: the subject that got the rule, if it is not the home'),
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
  reviewUntil: time.exactOptional().describe('when a person is asked instead of the reviewer'),
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

/** The answer to one of several approvals. */
export const answerResult = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('settled'), id: z.string(), approval: approvalShape }),
  z.strictObject({ type: z.literal('settled_before'), id: z.string(), approval: approvalShape }),
  z.strictObject({
    type: z.literal('refused'),
    id: z.string(),
    code: z.string(),
    message: z.string(),
    remedy: z.string(),
  }),
])
export const advice = z.string().max(2_000).describe('what the asker should do instead')
