import * as z from 'zod'
import { age, count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const pruneAudit = verb({
  summary: 'Removes the oldest entries of the audit beyond a limit.',
  description:
    'The rest stays one chain: it begins after a signed place, which `verifyAudit` checks. The removal is an entry of the audit itself.',
  route: 'POST /audit/prune',
  needs: 'admin',
  input: () =>
    z
      .strictObject({
        olderThanMs: age
          .exactOptional()
          .describe('entries older than this, in milliseconds, up to the first that is not'),
        keep: count.exactOptional().describe('how many entries to keep; the latest stay'),
      })
      .refine(
        ({ olderThanMs, keep }) => olderThanMs !== undefined || keep !== undefined,
        'give olderThanMs, keep, or both',
      ),
  output: () =>
    z.strictObject({
      removed: count,
      start: z
        .strictObject({ position: count, hash: z.string() })
        .nullable()
        .describe('the last entry that was removed, now or earlier: the chain begins after it'),
    }),
  codes: ['denied'],
})
