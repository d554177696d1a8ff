import * as z from 'zod'
import { cancelAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const cancelTurn = verb({
  summary: 'Ends the running turn of an agent.',
  description:
    'When it answers, the turn has ended. Its open tool calls are closed and interrupted. A turn without output is rolled back: its inputs are in `returned`. The next input that waits starts a turn.',
  route: 'POST /agents/{pid}/cancel-turn',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z.strictObject({
      pid: processRef,
      id: requestId,
      dropQueued: z.boolean().exactOptional().describe('also removes the inputs that wait'),
    }),
  output: () => cancelAnswer,
  codes: [...methodCodes, 'not_running'],
})
