import * as z from 'zod'
import { modelId } from './shapes/agent.ts'
import { configureAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const configureAgent = verb({
  summary: 'Changes the model of an agent, from its next model call on.',
  route: 'POST /agents/{pid}/configure',
  needs: 'operate',
  repeat: byRequestId,
  input: () => z.strictObject({ pid: processRef, id: requestId, model: modelId }),
  output: () => configureAnswer,
  codes: [...methodCodes],
})
