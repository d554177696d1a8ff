import * as z from 'zod'
import { budgetShape } from './shapes/allowance.ts'
import { processRef, sessionId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const budget = verb({
  summary: 'Shows what a process with its descendants, or a session, may use and has used.',
  description: 'For the root of a tree, `total` is the total of the tree.',
  route: 'GET /budget',
  needs: 'read',
  input: () =>
    z
      .strictObject({ pid: processRef.exactOptional(), session: sessionId.exactOptional() })
      .refine(
        ({ pid, session }) => (pid === undefined) !== (session === undefined),
        'give either pid or session',
      ),
  output: () => budgetShape,
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'session_unknown', 'denied'],
})
