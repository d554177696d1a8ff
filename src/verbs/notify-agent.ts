import * as z from 'zod'
import { notifyAnswer } from './shapes/agent-answer.ts'
import {
  byRequestId,
  content,
  hasOneContent,
  methodCodes,
  ONE_CONTENT,
  requestId,
} from './shapes/agent-request.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const notifyAgent = verb({
  summary:
    'Tells an agent something: an idle agent starts a turn, a running one sees it before its next model call.',
  description:
    'Unlike an input it waits in a buffer, and several are one entry of the prompt. At most 256 wait; later ones are counted.',
  route: 'POST /agents/{pid}/notify',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z
      .strictObject({
        pid: processRef,
        id: requestId,
        ...content,
        cause: z
          .enum(['notify', 'schedule', 'wake'])
          .default('notify')
          .describe('why: the log and the turn that it begins name it'),
      })
      .refine(hasOneContent, ONE_CONTENT),
  output: () => notifyAnswer,
  codes: [...methodCodes, 'payload_too_large'],
})
