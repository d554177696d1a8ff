import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { record } from './shapes/record.ts'
import { duration, processRefs } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const waitAny = verb({
  summary: 'Waits until one of several processes has ended.',
  route: 'POST /wait-any',
  needs: 'read',
  repeat: 'always',
  interrupted: { type: 'interrupted' },
  masking: 'values',
  input: () =>
    z.strictObject({
      pids: processRefs,
      timeoutMs: duration.exactOptional().describe('how long to wait, in milliseconds; no limit by default'),
    }),
  output: () =>
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('ended'), record }),
      z.strictObject({ type: z.literal('timed_out') }),
      z.strictObject({ type: z.literal('interrupted') }),
    ]),
  codes: processCodes,
})
