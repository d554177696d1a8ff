import * as z from 'zod'
import { pauseAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const pauseAgent = verb({
  summary: 'Pauses the running turn of an agent.',
  description:
    'The pause survives a restart. A turn without output is rolled back instead: its inputs are in `returned`, and the agent is idle.',
  route: 'POST /agents/{pid}/pause',
  needs: 'operate',
  repeat: byRequestId,
  input: () => z.strictObject({ pid: processRef, id: requestId }),
  output: () => pauseAnswer,
  codes: [...methodCodes, 'not_running'],
})
