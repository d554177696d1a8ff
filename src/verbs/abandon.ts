import * as z from 'zod'
import { record } from './shapes/record.ts'
import { processRef, reason } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const abandon = verb({
  summary: 'Asks to give up on a process whose holder does not answer.',
  description:
    'A process without a holder ends at once as `abandoned`. A process with a holder ends when its lease expires.',
  route: 'POST /processes/{pid}/abandon',
  needs: 'admin',
  input: () => z.strictObject({ pid: processRef, reason }),
  output: () => record,
  codes: ['unknown_pid', 'ambiguous_pid', 'already_ended', 'denied'],
})
