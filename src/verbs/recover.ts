import * as z from 'zod'
import { recoveryReport } from './shapes/recovery-report.ts'
import { verb } from './verb.ts'

export const recover = verb({
  summary: 'Recovers the processes of dead holders.',
  description: 'Recovery also runs at every start and in every sweep. This runs it now.',
  route: 'POST /recover',
  needs: 'admin',
  input: () => z.strictObject({}),
  output: () => recoveryReport,
  codes: ['denied'],
})
