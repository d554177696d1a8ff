import * as z from 'zod'
import { recoveryReport } from './shapes/recovery-report.ts'
import { count, duration, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** What runs Reeve here, and what it found when it started. */
export const status = verb({
  summary: 'Which daemon and keeper are at work, and what they found at the start.',
  route: 'GET /status',
  needs: 'read',
  input: z.strictObject({}),
  output: z.strictObject({
    daemon: z.strictObject({ id: z.string(), osPid: count }),
    keeper: z
      .strictObject({ id: z.string(), osPid: count, available: z.boolean() })
      .nullable()
      .describe('null where no commands are run'),
    live: count,
    ended: z
      .strictObject({
        count,
        oldestAt: time.nullable(),
        maxAgeMs: duration.nullable().describe('those that ended longer ago are pruned; null: no limit'),
        maxCount: count.nullable().describe('the longest ended beyond these are pruned; null: no limit'),
        lastPrune: z.strictObject({ at: time, pruned: count }).nullable(),
      })
      .describe('processes that have ended and are still kept'),
    storage: z.strictObject({
      storeBytes: count.nullable(),
      outputBytes: count.nullable().describe('all output logs, as last measured; null before that'),
    }),
    unreadable: z
      .array(z.string())
      .describe('pids of records that were met and could not be read; everything else goes on without them'),
    boot: recoveryReport,
    troubles: z
      .array(
        z.strictObject({
          code: z.enum(['store_unwritable', 'secrets_unusable', 'output_held_back', 'log_unwritten']),
          since: count,
          message: z.string(),
          remedy: z.string(),
        }),
      )
      .describe('what is wrong now, the worst first'),
  }),
  codes: ['denied'],
})
