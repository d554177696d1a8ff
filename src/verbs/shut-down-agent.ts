import * as z from 'zod'
import { shutDownAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef, reason } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const shutDownAgent = verb({
  summary: 'Ends an agent: a running turn is cancelled first.',
  description: 'Its session log stays readable. To force an end, use `kill`.',
  route: 'POST /agents/{pid}/shut-down',
  needs: 'operate',
  repeat: byRequestId,
  input: () => z.strictObject({ pid: processRef, id: requestId, reason: reason.exactOptional() }),
  output: () => shutDownAnswer,
  codes: [...methodCodes],
})
