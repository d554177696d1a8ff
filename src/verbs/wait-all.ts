import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { record } from './shapes/record.ts'
import { duration, processRefs } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const waitAll = verb({
  summary: 'Waits until all of several processes have ended.',
  description: 'On a timeout the answer has the processes that have ended.',
  route: 'POST /wait-all',
  needs: 'read',
  repeat: 'always',
  interrupted: { type: 'interrupted', records: [] },
  masking: 'values',
  input: () =>
    z.strictObject({
      pids: processRefs,
      timeoutMs: duration.exactOptional().describe('how long to wait, in milliseconds; no limit by default'),
    }),
  output: () =>
    z.strictObject({ type: z.enum(['ended', 'timed_out', 'interrupted']), records: z.array(record) }),
  codes: processCodes,
})
