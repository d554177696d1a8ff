import * as z from 'zod'
import { json } from './shapes/json.ts'
import { count, pageSize, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Go on after the `place` of the last one. */
export const notices = verb({
  summary: 'Reads what a scope has been told.',
  route: 'GET /notices',
  needs: 'read',
  input: z.strictObject({
    scope: z.string().regex(/^(session|process|human):.+$/s, 'must be session:…, process:… or human:…'),
    after: count.default(0),
    limit: pageSize,
  }),
  output: z.strictObject({
    notices: z.array(
      z.strictObject({
        place: count,
        scope: z.string(),
        pid: z.string(),
        seq: count,
        kind: z.enum(['completion', 'group_completion', 'wake']),
        at: time,
        payload: json,
        replyTo: json,
      }),
    ),
  }),
  codes: ['denied'],
})
