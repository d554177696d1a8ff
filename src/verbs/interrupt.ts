import * as z from 'zod'
import { selectors } from './shapes/owner.ts'
import { pid, reason } from './shapes/scalars.ts'
import { stopReport } from './shapes/stop-report.ts'
import { verb } from './verb.ts'

export const interrupt = verb({
  summary: 'Asks all processes of a scope to stop.',
  description:
    'All given selectors must match. A scope may be one tool call, a turn, or a whole session; agents and workflows are asked, too. A session without further selectors includes the sessions below it.',
  route: 'POST /interrupts',
  needs: 'operate',
  input: () =>
    z.strictObject({
      scope: z.strictObject({ ...selectors, pid: pid.exactOptional() }).describe('at least one selector'),
      reason: reason.exactOptional(),
      tree: z.boolean().default(false).describe('also the descendants of the processes that match'),
    }),
  output: () => stopReport,
  codes: ['empty_scope', 'not_found', 'denied'],
})
