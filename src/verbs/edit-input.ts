import * as z from 'zod'
import { editAnswer } from './shapes/agent-answer.ts'
import {
  byRequestId,
  content,
  hasOneContent,
  inputId,
  methodCodes,
  ONE_CONTENT,
  requestId,
} from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const editInput = verb({
  summary: 'Replaces the parts of an input that waits.',
  description: 'Refused with `not_found` once a turn has taken it.',
  route: 'PUT /agents/{pid}/inputs/{input}',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z
      .strictObject({ pid: processRef, input: inputId, id: requestId, ...content })
      .refine(hasOneContent, ONE_CONTENT),
  output: () => editAnswer,
  codes: [...methodCodes, 'not_found', 'payload_too_large'],
})
