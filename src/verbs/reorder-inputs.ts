import * as z from 'zod'
import { MAX_QUEUED_INPUTS } from '../core/agent/state.ts'
import { reorderAnswer } from './shapes/agent-answer.ts'
import { byRequestId, inputId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const reorderInputs = verb({
  summary: 'Changes the order of the inputs that wait.',
  route: 'PUT /agents/{pid}/inputs',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z.strictObject({
      pid: processRef,
      id: requestId,
      inputs: z
        .array(inputId)
        .min(1)
        .max(MAX_QUEUED_INPUTS)
        .describe('the ids of all waiting inputs, in the new order'),
    }),
  output: () => reorderAnswer,
  codes: [...methodCodes],
})
