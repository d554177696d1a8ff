import * as z from 'zod'
import { auditDecision, auditEntry } from './shapes/audit.ts'
import { count, pageSize, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const exact = z.string().min(1).max(4_096)

export const audit = verb({
  summary: 'Reads the audit: who was shown secrets, was given access or lost it, and was denied something.',
  description:
    'The newest entries come first. With `next` there are more, even if this page is empty: one call looks at a bounded number of entries.',
  route: 'GET /audit',
  needs: 'admin',
  input: () =>
    z.strictObject({
      actor: exact.exactOptional().describe('only entries of this actor, for example session:s1'),
      target: exact
        .exactOptional()
        .describe('only entries about this target, for example process:p_7k3m9q2x4t8v'),
      decision: auditDecision.exactOptional().describe('only entries with this decision'),
      since: time.exactOptional().describe('only entries of this time or later, in milliseconds since 1970'),
      oldestFirst: z
        .boolean()
        .default(false)
        .describe('in order of position; after continues with later ones'),
      after: count.exactOptional().describe('next of an earlier answer'),
      limit: pageSize,
    }),
  output: () =>
    z.strictObject({
      entries: z.array(auditEntry),
      next: count.nullable().describe('the position to continue after'),
    }),
  codes: ['denied'],
})
