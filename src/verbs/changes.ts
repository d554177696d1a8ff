import * as z from 'zod'
import { storedEvent } from './shapes/event.ts'
import { filter } from './shapes/filter.ts'
import { reveal } from './shapes/output.ts'
import { count, pageSize } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const changes = verb({
  summary: 'Reads the events of all processes, in the one order that all readers see.',
  description:
    'Continue after the `position` of the answer: no event is missed or repeated. 0 is the oldest event that is kept. A reader that begins at 0 passes `prunedThrough` of the answer on, and is refused only if more has been pruned since. One call scans a bounded number of events. With `more` there are events after `position`, even if this page is empty.',
  route: 'GET /changes',
  needs: 'read',
  showsMany: true,
  input: () =>
    z.strictObject({
      after: count.default(0).describe('the position to continue after'),
      prunedThrough: count.default(0).describe('prunedThrough of the first answer'),
      filter: filter.exactOptional().describe('the processes whose events to read'),
      limit: pageSize,
      reveal,
    }),
  output: () =>
    z.strictObject({
      events: z.array(storedEvent),
      position: count,
      more: z.boolean(),
      prunedThrough: count,
    }),
  codes: ['behind_pruned', 'denied'],
})
