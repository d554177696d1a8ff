import * as z from 'zod'
import { storedEvent } from './shapes/event.ts'
import { filter } from './shapes/filter.ts'
import { reveal } from './shapes/output.ts'
import { count, pageSize } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/**
 * Go on after the `position` of the answer: nothing is missed and nothing comes twice. 0 is the oldest that is kept;
 * whoever begins there passes `prunedThrough` of the answer on, to be refused only when more is gone by then.
 * One call looks at a bounded number of events. With `more` there are others behind `position`, even if this page is empty.
 */
export const changes = verb({
  summary: 'Reads the events of all processes, in the one order that all readers see.',
  route: 'GET /changes',
  needs: 'read',
  input: z.strictObject({
    after: count.default(0),
    prunedThrough: count.default(0),
    filter: filter.exactOptional(),
    limit: pageSize,
    reveal,
  }),
  output: z.strictObject({
    events: z.array(storedEvent),
    position: count,
    more: z.boolean(),
    prunedThrough: count,
  }),
  codes: ['behind_pruned', 'denied'],
})
