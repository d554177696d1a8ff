import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { storedEvent } from './shapes/event.ts'
import { reveal } from './shapes/output.ts'
import { count, pageSize, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const events = verb({
  summary: 'Reads the events of a process.',
  description:
    'After a `seq`, or the last ones with `tail`. A page may have fewer than `limit` events if they are large; it is empty only if there are no more. `count` is the number of all its events.',
  route: 'GET /processes/{pid}/events',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef,
      after: count.default(0).describe('the seq to continue after'),
      tail: z.number().int().min(1).max(1_000).exactOptional().describe('reads the last events, this many'),
      limit: pageSize,
      reveal,
    }),
  output: () => z.strictObject({ events: z.array(storedEvent), count }),
  codes: processCodes,
})
