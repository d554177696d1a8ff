import * as z from 'zod'
import { allowAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { amounts } from './shapes/allowance.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const allowAgent = verb({
  summary: 'Raises limits of an agent, and lets inputs go on that waited because of a limit.',
  description:
    'For an operator, the parent of the agent, or a session above its own. The amounts are added to limits that the agent has; they are taken from the account above, if that has such a limit.',
  route: 'POST /agents/{pid}/allow',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z.strictObject({ pid: processRef, id: requestId, amounts: amounts.describe('the amounts to add') }),
  output: () => allowAnswer,
  codes: [...methodCodes, 'limit_exceeded'],
})
