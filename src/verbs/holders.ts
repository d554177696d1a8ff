import * as z from 'zod'
import { HOLDER_ROLES, PROOFS } from '../core/lease/holder.ts'
import { count, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const holders = verb({
  summary: 'Lists who may hold leases: kernels, keepers and workers, and what each holds.',
  description: 'It also lists holders that have a lease and no row (any more). Only their ids are known.',
  route: 'GET /holders',
  needs: 'admin',
  input: () => z.strictObject({}),
  output: () =>
    z.strictObject({
      holders: z.array(
        z.strictObject({
          id: z.string(),
          role: z.enum(HOLDER_ROLES).nullable(),
          host: z.string().nullable(),
          osPid: count.nullable(),
          since: time.nullable().describe('when its program began, if known'),
          renewedAt: time.nullable(),
          state: z
            .enum(['live', 'silent', 'dead'])
            .describe('silent: it is alive, and no longer renews its row'),
          proof: z.enum(PROOFS).describe('what the operating system tells of it'),
          holds: z.array(z.string()).describe('pids, 100 at most'),
          holdsMore: z.boolean(),
        }),
      ),
    }),
  codes: ['denied'],
})
