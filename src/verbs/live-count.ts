import * as z from 'zod'
import { count, duration, sessionId, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const liveCount = verb({
  summary: 'Counts the processes that have not ended.',
  description:
    'For the whole store the cost does not depend on the number of processes. With `maxAgeMs`, older processes are not counted.',
  route: 'GET /live-count',
  needs: 'read',
  input: () =>
    z.strictObject({
      session: sessionId
        .exactOptional()
        .describe('counts the processes of this session and of the sessions below it only'),
      maxAgeMs: duration.exactOptional().describe('counts processes up to this age only, in milliseconds'),
    }),
  output: () => z.strictObject({ live: count, newestAt: time.nullable() }),
  codes: ['denied'],
})
