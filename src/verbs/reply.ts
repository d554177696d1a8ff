import * as z from 'zod'
import { approvalId, settlement } from './shapes/approval.ts'
import { json } from './shapes/json.ts'
import { verb } from './verb.ts'

export const reply = verb({
  summary: 'Replies to a question: the process that waits for it ends with the reply as its result.',
  description:
    'The reply is a text, or one of the choices if the question has any. The first answer wins; a later one gets the recorded decision.',
  route: 'POST /approvals/{id}/reply',
  needs: 'operate',
  asPerson: 'required',
  repeat: 'always',
  input: () => z.strictObject({ id: approvalId, value: json.describe('the reply') }),
  output: () => settlement,
  codes: ['approval_unknown', 'payload_too_large', 'denied', 'person_required'],
})
