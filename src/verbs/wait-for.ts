import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { storedEvent } from './shapes/event.ts'
import { count, duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const waitFor = verb({
  summary: 'Waits for an event of one of these types.',
  description:
    'Earlier events count, too, unless `after` gives a `seq` to begin at. The end of the process ends the wait: then `event` is null.',
  route: 'GET /processes/{pid}/wait-for',
  needs: 'read',
  interrupted: { type: 'interrupted' },
  masking: 'values',
  input: () =>
    z.strictObject({
      pid: processRef,
      types: z.array(z.string().min(1)).min(1).describe('types of events'),
      after: count.default(0).describe('the seq to begin after'),
      timeoutMs: duration.exactOptional().describe('how long to wait, in milliseconds; no limit by default'),
    }),
  output: () =>
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('heard'), event: storedEvent.nullable() }),
      z.strictObject({ type: z.literal('timed_out') }),
      z.strictObject({ type: z.literal('interrupted') }),
    ]),
  codes: processCodes,
})
