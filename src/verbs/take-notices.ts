import * as z from 'zod'
import { consumer, notice, scope, waitMs } from './shapes/notice.ts'
import { duration, pageSize, time, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Nobody else gets them until the time is up. Then, if they were not acknowledged, they are given again. */
export const takeNotices = verb({
  summary: 'Takes notices for one consumer alone.',
  route: 'POST /inbox/take',
  needs: 'operate',
  input: z.strictObject({
    scope,
    consumer,
    limit: pageSize,
    visibilityMs: duration.min(1).default(30_000).describe('how long they are this consumer’s'),
    turn: turnId.exactOptional().describe('leave out what was looked at in this turn'),
    waitMs: waitMs.describe('how long to wait for one if there is none, in milliseconds'),
  }),
  output: z.strictObject({ notices: z.array(notice), until: time }),
  codes: ['denied'],
})
