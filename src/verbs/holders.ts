import * as z from 'zod'
import { count, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Also those that hold something and have no row (any more): of them nothing else is known. */
export const holders = verb({
  summary: 'Lists who may hold leases: kernels, keepers and workers, and what each holds.',
  route: 'GET /holders',
  needs: 'admin',
  input: z.strictObject({}),
  output: z.strictObject({
    holders: z.array(
      z.strictObject({
        id: z.string(),
        role: z.enum(['kernel', 'keeper', 'worker']).nullable(),
        host: z.string().nullable(),
        osPid: count.nullable(),
        since: time.nullable().describe('when its program began, where that is known'),
        renewedAt: time.nullable(),
        state: z.enum(['live', 'silent', 'dead']).describe('silent: it lives, and no longer renews its row'),
        proof: z.enum(['alive', 'dead', 'unknown']).describe('what is known of it apart from its row'),
        holds: z.array(z.string()).describe('pids, 100 at most'),
        holdsMore: z.boolean(),
      }),
    ),
  }),
  codes: ['denied'],
})
