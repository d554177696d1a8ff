import * as z from 'zod'
import { TROUBLE_CODES } from '../core/trouble/trouble.ts'
import { recoveryReport } from './shapes/recovery-report.ts'
import { count, duration, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const status = verb({
  summary: 'Shows which daemon and keeper run, and what they found at the start.',
  description: 'It also shows how much is stored, the space that it takes, and current problems.',
  route: 'GET /status',
  needs: 'read',
  input: () => z.strictObject({}),
  output: () =>
    z.strictObject({
      daemon: z.strictObject({ id: z.string(), osPid: count }),
      keeper: z
        .strictObject({ id: z.string(), osPid: count, available: z.boolean() })
        .nullable()
        .describe('null if this kernel runs no commands'),
      live: count.describe('processes that have not ended'),
      awaitingApproval: count.describe(
        'those of them that wait for the answer of a person, and have not begun',
      ),
      models: z
        .strictObject({
          default: z.string().nullable().describe('for agents whose request and image name none'),
          keys: z.array(z.string()).describe('keys of model providers that it can read, by their names'),
        })
        .describe('models that the daemon has keys for'),
      ended: z
        .strictObject({
          count,
          oldestAt: time.nullable(),
          maxAgeMs: duration.nullable().describe('older ended processes are pruned; null: no limit'),
          maxCount: count
            .nullable()
            .describe('further ended processes are pruned, the oldest first; null: no limit'),
          lastPrune: z.strictObject({ at: time, pruned: count }).nullable(),
        })
        .describe('ended processes that are still kept'),
      storage: z.strictObject({
        storeBytes: count.nullable(),
        outputBytes: count.nullable().describe('all output logs, as last measured; null before that'),
      }),
      unreadable: z
        .array(z.string())
        .describe('pids of records that could not be read; everything else goes on without them'),
      boot: recoveryReport,
      troubles: z
        .array(
          z.strictObject({
            code: z.enum(TROUBLE_CODES),
            since: count,
            message: z.string(),
            remedy: z.string(),
          }),
        )
        .describe('current problems, the worst first'),
    }),
  codes: ['denied'],
})
