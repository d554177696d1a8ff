import * as z from 'zod'
import { record } from './shapes/record.ts'
import { processRef, reason } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** What nobody holds ends at once as `abandoned`; what somebody holds, when its lease has lapsed. */
export const abandon = verb({
  summary: 'Asks to give up on a process that nobody answers for.',
  route: 'POST /processes/{pid}/abandon',
  needs: 'admin',
  input: z.strictObject({ pid: processRef, reason }),
  output: record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'denied'],
})
