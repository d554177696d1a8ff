import * as z from 'zod'
import { storedEvent } from './shapes/event.ts'
import { reveal } from './shapes/output.ts'
import { count, pageSize, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/**
 * After a `seq`, or the last ones with `tail`. There may be fewer than `limit` if they are large, but never none if there are
 * some. `count` is how many there are in all.
 */
export const events = verb({
  summary: 'Reads the events of a process.',
  route: 'GET /processes/{pid}/events',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    after: count.default(0),
    tail: z.number().int().min(1).max(1_000).exactOptional(),
    limit: pageSize,
    reveal,
  }),
  output: z.strictObject({ events: z.array(storedEvent), count }),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'],
})
