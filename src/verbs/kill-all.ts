import * as z from 'zod'
import { filter } from './shapes/filter.ts'
import { duration, reason } from './shapes/scalars.ts'
import { killReport } from './shapes/stop-report.ts'
import { verb } from './verb.ts'

export const killAll = verb({
  summary: 'Ends all live processes, and counts them.',
  description:
    'All live processes or those that a filter selects, and programs that ended commands left running.',
  route: 'POST /kill-all',
  needs: 'operate',
  input: () =>
    z.strictObject({
      filter: filter.exactOptional().describe('the processes to end; all live ones by default'),
      graceMs: duration
        .exactOptional()
        .describe('how long each may take to end before it is forced, in milliseconds'),
      reason: reason.exactOptional(),
    }),
  output: () => killReport,
  codes: ['denied'],
})
