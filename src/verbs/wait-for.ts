import * as z from 'zod'
import { storedEvent } from './shapes/event.ts'
import { count, duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** An event that came before counts too, unless `after` says from where. The end of the process ends the wait: then `event` is null. */
export const waitFor = verb({
  summary: 'Waits for an event of one of these types.',
  route: 'GET /processes/{pid}/wait-for',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    types: z.array(z.string().min(1)).min(1),
    after: count.default(0),
    timeoutMs: duration.exactOptional(),
  }),
  output: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('heard'), event: storedEvent.nullable() }),
    z.strictObject({ type: z.literal('timed_out') }),
    z.strictObject({ type: z.literal('interrupted') }),
  ]),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'],
})
