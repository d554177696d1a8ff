import * as z from 'zod'
import { budgetShape } from './shapes/allowance.ts'
import { processRef, sessionId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** `total` of the root of a tree is that of the tree. */
export const budget = verb({
  summary: 'What a process, with all below it, or a session may use and has used.',
  route: 'GET /budget',
  needs: 'read',
  input: z
    .strictObject({ pid: processRef.exactOptional(), session: sessionId.exactOptional() })
    .refine(({ pid, session }) => (pid === undefined) !== (session === undefined), 'either pid or session'),
  output: budgetShape,
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'session_unknown', 'denied'],
})
