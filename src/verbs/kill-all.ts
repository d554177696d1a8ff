import * as z from 'zod'
import { filter } from './shapes/filter.ts'
import { duration, reason } from './shapes/scalars.ts'
import { killReport } from './shapes/stop-report.ts'
import { verb } from './verb.ts'

/** Everything that lives, or what a filter selects of it; also what commands that have ended left running. */
export const killAll = verb({
  summary: 'Ends all live processes, and counts.',
  route: 'POST /kill-all',
  needs: 'operate',
  input: z.strictObject({
    filter: filter.exactOptional(),
    graceMs: duration.exactOptional(),
    reason: reason.exactOptional(),
  }),
  output: killReport,
  codes: ['denied'],
})
