import * as z from 'zod'
import { selectors } from './shapes/owner.ts'
import { pid, reason } from './shapes/scalars.ts'
import { stopReport } from './shapes/stop-report.ts'
import { verb } from './verb.ts'

/** All selectors that are given must match. One tool call, a turn, everything of a session; agents and workflows too. */
export const interrupt = verb({
  summary: 'Asks all processes of a scope to stop.',
  route: 'POST /interrupts',
  needs: 'operate',
  input: z.strictObject({
    scope: z.strictObject({ ...selectors, pid: pid.exactOptional() }),
    reason: reason.exactOptional(),
    tree: z.boolean().default(false).describe('descendants of what matches, too'),
  }),
  output: stopReport,
  codes: ['empty_scope', 'not_found', 'denied'],
})
