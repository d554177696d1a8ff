import * as z from 'zod'
import { recoveryReport } from './shapes/recovery-report.ts'
import { verb } from './verb.ts'

/** It happens by itself at the start and in every sweep; this does it now. */
export const recover = verb({
  summary: 'Looks after what dead holders left behind.',
  route: 'POST /recover',
  needs: 'admin',
  input: z.strictObject({}),
  output: recoveryReport,
  codes: ['denied'],
})
