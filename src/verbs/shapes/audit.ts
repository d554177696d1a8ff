import * as z from 'zod'
import { AUDIT_DECISIONS } from '../../core/audit/entry.ts'
import { json } from './json.ts'
import { count, time } from './scalars.ts'

export const auditDecision = z.enum(AUDIT_DECISIONS)

const place = {
  position: count.describe('its place in the audit'),
  at: time,
  hash: z
    .string()
    .describe(
      'of its link, the entries that were committed with it: SHA-256 of the hash before and of the stored text',
    ),
}

/** An entry of the audit, with its place in the chain. */
export const auditEntry = z.union([
  z.strictObject({
    type: z.literal('entry'),
    ...place,
    actor: z.string().describe('who acted'),
    action: z.string(),
    target: z.string().describe('what the action was on, for example process:p_7k3m9q2x4t8v'),
    decision: auditDecision,
    rule: z
      .strictObject({ subject: z.string(), id: z.string(), text: z.string() })
      .nullable()
      .describe('the rule that decided'),
    reason: z.string().nullable(),
    inputs: z.record(z.string(), json).describe('what the decision was about, with secrets masked'),
    trace: z.string().nullable().describe('the W3C trace context of the request'),
  }),
  z
    .strictObject({ type: z.literal('unreadable'), ...place })
    .describe('the stored text was changed, and holds no entry any more'),
])
