import * as z from 'zod'
import { approvalShape } from './shapes/approval.ts'
import { count, pageSize } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const approvals = verb({
  summary: 'Lists approvals: requests to people, and their answers. The oldest first.',
  description: 'A session sees its own requests, and a process its own and those below it.',
  route: 'GET /approvals',
  needs: 'read',
  input: z.strictObject({
    state: z
      .enum(['pending', 'answered', 'withdrawn', 'expired', 'any'])
      .default('pending')
      .describe('only approvals in this state'),
    after: count.exactOptional().describe('`next` of the page before'),
    limit: pageSize,
  }),
  output: z.strictObject({ approvals: z.array(approvalShape), next: count.nullable() }),
  codes: [],
})
