import * as z from 'zod'
import { RULE_LEVELS } from '../core/approval/rule-level.ts'
import { approvalId, grantOfApproval, settlement } from './shapes/approval.ts'
import { jsonObject } from './shapes/json.ts'
import { verb } from './verb.ts'

export const approve = verb({
  summary: 'Approves a request: the process that waits for it begins.',
  description:
    'The first answer wins; a later one gets the recorded decision. People and the host may answer. A session may not answer for itself, nor for one above or below it, and approves for one time only.',
  route: 'POST /approvals/{id}/approve',
  needs: 'operate',
  asPerson: 'required',
  repeat: 'always',
  input: () =>
    z.strictObject({
      id: approvalId,
      grant: grantOfApproval
        .default('once')
        .describe(
          'how far the yes reaches: this time, the same action of the asking process or session, or every time; the request lists those that it offers',
        ),
      rule: jsonObject
        .exactOptional()
        .describe(
          'with always: `alwaysRule` of the request as it was shown, so that no other rule is stored',
        ),
      level: z
        .enum(RULE_LEVELS)
        .exactOptional()
        .describe(
          'with always: where the rule is stored; home by default, or the workspace of the asker that the action runs in',
        ),
      spec: jsonObject
        .exactOptional()
        .describe(
          'runs this whole spec instead of the requested one, once; it is ruled on as the request was',
        ),
    }),
  output: () => settlement,
  codes: ['approval_unknown', 'denied', 'person_required', 'limit_exceeded'],
})
