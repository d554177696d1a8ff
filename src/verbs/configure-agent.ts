import * as z from 'zod'
import { EFFORTS } from './efforts.ts'
import { modelId } from './shapes/agent.ts'
import { configureAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const configureAgent = verb({
  summary: 'Changes the model of an agent, and how much it thinks, from its next model call on.',
  description:
    'Refused with `invalid_request` if the model cannot be opened: `problem` in the details is `model_unknown`, `model_key_missing`, `model_unpriced` or `script_invalid`.',
  route: 'POST /agents/{pid}/configure',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z.strictObject({
      pid: processRef,
      id: requestId,
      model: modelId,
      effort: z
        .enum(EFFORTS)
        .exactOptional()
        .describe('how much the model thinks; without it that stays as it is'),
    }),
  output: () => configureAnswer,
  codes: [...methodCodes],
})
