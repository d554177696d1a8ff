import * as z from 'zod'
import { resumeAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const resumeAgent = verb({
  summary: 'Continues the paused turn of an agent.',
  route: 'POST /agents/{pid}/resume',
  needs: 'operate',
  repeat: byRequestId,
  input: () => z.strictObject({ pid: processRef, id: requestId }),
  output: () => resumeAnswer,
  codes: [...methodCodes, 'not_paused', 'already_running'],
})
