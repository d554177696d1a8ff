import * as z from 'zod'
import { actor } from './shapes/record.ts'
import { time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const whoami = verb({
  summary: 'On whose behalf the caller acts: a token that is bound to a session acts as that session.',
  route: 'GET /whoami',
  needs: 'read',
  input: z.strictObject({}),
  output: z.strictObject({
    actor,
    session: z.string().nullable().describe('null for everybody else'),
    /** By the clock that `reader.since` and all times of records are compared with. */
    now: time,
  }),
  codes: [],
})
