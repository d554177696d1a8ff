import * as z from 'zod'
import { approvalShape } from './shapes/approval.ts'
import { count, pageSize } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const approvals = verb({
  summary:
    'Lists approvals: requests to people, and their answers. The oldest, the newest or the most urgent first.',
  description:
    'A session sees its own requests, and a process its own and those below it, and has no queue by priority.',
  route: 'GET /approvals',
  needs: 'read',
  input: () =>
    z.strictObject({
      state: z
        .enum(['pending', 'answered', 'withdrawn', 'expired', 'any'])
        .default('pending')
        .describe('only approvals in this state'),
      order: z
        .enum(['asked', 'newest', 'priority'])
        .default('asked')
        .describe(
          'asked: the oldest first; newest: the newest first; priority: the queue of people, which are the pending ones with the highest priority first; one page',
        ),
      person: z
        .string()
        .min(1)
        .max(100)
        .exactOptional()
        .describe('with the order priority: what this person is asked, and what any person may answer'),
      after: count.exactOptional().describe('`next` of the page before'),
      limit: pageSize,
    }),
  output: () =>
    z.strictObject({
      approvals: z.array(approvalShape),
      next: count.nullable(),
      pending: count.exactOptional().describe('with the order priority: how many wait in the whole queue'),
    }),
  codes: [],
})
