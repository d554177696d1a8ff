import * as z from 'zod'
import { advice, approvalId, settlement } from './shapes/approval.ts'
import { verb } from './verb.ts'

export const deny = verb({
  summary: 'Denies a request: the process that waits for it ends without having begun.',
  description: 'The first answer wins; a later one gets the recorded decision.',
  route: 'POST /approvals/{id}/deny',
  needs: 'operate',
  asPerson: 'required',
  repeat: 'always',
  input: () =>
    z.strictObject({
      id: approvalId,
      advice: advice.exactOptional(),
    }),
  output: () => settlement,
  codes: ['approval_unknown', 'denied', 'person_required'],
})
