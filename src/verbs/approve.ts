import * as z from 'zod'
import { approvalId, settlement } from './shapes/approval.ts'
import { verb } from './verb.ts'

export const approve = verb({
  summary: 'Approves a request: the process that waits for it begins.',
  description:
    'The first answer wins; a later one gets the recorded decision. People and the host may answer. A session may not answer for itself, nor for one above or below it.',
  route: 'POST /approvals/{id}/approve',
  needs: 'operate',
  asPerson: 'required',
  repeat: 'always',
  input: z.strictObject({ id: approvalId }),
  output: settlement,
  codes: ['approval_unknown', 'denied', 'person_required'],
})
