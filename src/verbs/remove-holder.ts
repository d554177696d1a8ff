import * as z from 'zod'
import { recoveryReport } from './shapes/recovery-report.ts'
import { verb } from './verb.ts'

/** One that hangs is taken over by nothing else. It loses what it holds, and writes nothing of it any more. */
export const removeHolder = verb({
  summary: 'Declares a holder dead, and settles what it holds as recovery does.',
  route: 'POST /holders/{id}/remove',
  needs: 'admin',
  input: z.strictObject({
    id: z.string().min(1).max(200),
    force: z.boolean().default(false).describe('also one that is alive and well'),
  }),
  output: recoveryReport,
  codes: ['not_found', 'holder_alive', 'denied'],
})
