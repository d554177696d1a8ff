import * as z from 'zod'
import { count, duration } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Never a live one, nor what a live one refers to. A pruned pid is refused for 90 days. */
export const prune = verb({
  summary: 'Removes processes that ended long ago, or beyond a number to keep.',
  route: 'POST /prune',
  needs: 'admin',
  input: z
    .strictObject({ olderThanMs: duration.exactOptional(), keep: count.exactOptional() })
    .refine(
      (given) => given.olderThanMs !== undefined || given.keep !== undefined,
      'say olderThanMs, keep, or both',
    ),
  output: z.strictObject({ pruned: z.array(z.string()) }),
  codes: ['denied'],
})
