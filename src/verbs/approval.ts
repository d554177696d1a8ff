import * as z from 'zod'
import { approvalId, approvalShape } from './shapes/approval.ts'
import { verb } from './verb.ts'

export const approval = verb({
  summary: 'Shows an approval: the exact action, who asks and why, and how it was answered.',
  description: 'A session sees its own requests, and a process its own and those below it.',
  route: 'GET /approvals/{id}',
  needs: 'read',
  input: () => z.strictObject({ id: approvalId }),
  output: () => z.strictObject({ approval: approvalShape }),
  codes: ['approval_unknown'],
})
