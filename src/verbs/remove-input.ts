import * as z from 'zod'
import { removeAnswer } from './shapes/agent-answer.ts'
import { byRequestId, inputId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const removeInput = verb({
  summary: 'Removes an input that waits.',
  description: 'Refused with `not_found` once a turn has taken it.',
  route: 'DELETE /agents/{pid}/inputs/{input}',
  needs: 'operate',
  repeat: byRequestId,
  input: () => z.strictObject({ pid: processRef, id: requestId, input: inputId }),
  output: () => removeAnswer,
  codes: [...methodCodes, 'not_found'],
})
