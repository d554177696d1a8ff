import * as z from 'zod'
import { recoveryReport } from './shapes/recovery-report.ts'
import { verb } from './verb.ts'

export const removeHolder = verb({
  summary: 'Declares a holder dead, and recovers the processes that it holds.',
  description:
    'A holder that hangs is not taken over by anything else. It loses its leases, and can no longer write to those processes.',
  route: 'POST /holders/{id}/remove',
  needs: 'admin',
  input: () =>
    z.strictObject({
      id: z.string().min(1).max(200).describe('the id of the holder'),
      force: z.boolean().default(false).describe('also a holder that is alive and renews its row'),
    }),
  output: () => recoveryReport,
  codes: ['not_found', 'holder_alive', 'denied'],
})
