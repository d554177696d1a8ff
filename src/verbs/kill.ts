import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { record } from './shapes/record.ts'
import { duration, processRef, reason } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const kill = verb({
  summary: 'Ends a process and everything it started.',
  description:
    'Asks first, forces when the grace is over, then checks. It answers when the process has ended, with its real outcome; a process that survives is an error that names it. If the store cannot be written, a command is ended all the same: `unrecorded` says that it is gone, and that its record follows when the store can be written again.',
  route: 'POST /processes/{pid}/kill',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z.strictObject({
      pid: processRef,
      graceMs: duration
        .exactOptional()
        .describe('how long it may take to end before it is forced; 0: it is never forced'),
      reason: reason.exactOptional(),
    }),
  output: () => z.strictObject({ type: z.enum(['ended', 'already_ended', 'asked', 'unrecorded']), record }),
  codes: [...processCodes, 'survived', 'not_ours'],
})
