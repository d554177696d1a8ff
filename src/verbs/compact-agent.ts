import * as z from 'zod'
import { compactAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { place } from './shapes/agent-rewind.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const compactAgent = verb({
  summary: 'Shortens the session of an idle agent: a model summarises its history.',
  description: 'The answer names the turn that does it. `waitAgent` waits for the end of that turn.',
  route: 'POST /agents/{pid}/compact',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z.strictObject({
      pid: processRef,
      id: requestId,
      expectedHead: place.exactOptional().describe('the head of the session that the caller has seen'),
    }),
  output: () => compactAnswer,
  codes: [...methodCodes, 'already_running', 'conflict'],
})
