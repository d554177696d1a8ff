import * as z from 'zod'
import { count, duration, sessionId, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** For the whole store this costs the same however many processes there are. With `maxAgeMs`, older processes do not count. */
export const liveCount = verb({
  summary: 'Says what still runs.',
  route: 'GET /live-count',
  needs: 'read',
  input: z.strictObject({ session: sessionId.exactOptional(), maxAgeMs: duration.exactOptional() }),
  output: z.strictObject({ live: count, newestAt: time.nullable() }),
  codes: ['denied'],
})
