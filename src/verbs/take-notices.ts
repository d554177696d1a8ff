import * as z from 'zod'
import { consumer, notice, scope, waitMs } from './shapes/notice.ts'
import { duration, pageSize, time, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const takeNotices = verb({
  summary: 'Takes notices for one consumer alone.',
  description:
    'No other consumer gets them until `visibilityMs` have passed. Then notices that were not acknowledged are delivered again.',
  route: 'POST /inbox/take',
  needs: 'operate',
  // Notices that a lost answer took are delivered again when their time is up.
  repeat: 'always',
  input: () =>
    z.strictObject({
      scope,
      consumer,
      limit: pageSize,
      visibilityMs: duration
        .min(1)
        .default(30_000)
        .describe('how long no other consumer gets them, in milliseconds'),
      turn: turnId.exactOptional().describe('skip notices about processes that this turn has read'),
      waitMs: waitMs.describe('how long to wait for a notice if there is none, in milliseconds'),
    }),
  output: () =>
    z.strictObject({
      notices: z.array(notice).describe('the notices that were taken, in order of position'),
      until: time.describe('until then no other consumer gets them, in milliseconds since 1970'),
    }),
  codes: ['denied'],
})
