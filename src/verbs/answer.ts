import * as z from 'zod'
import { json } from './shapes/json.ts'
import { verb } from './verb.ts'

export const answer = verb({
  summary: 'Answers a wait through its one-shot key.',
  description: 'Anyone who has the key may answer, once.',
  route: 'POST /answers',
  needs: 'operate',
  input: () =>
    z.strictObject({
      key: z.string().min(1).max(500).describe('the one-shot key'),
      value: json.optional().describe('what the wait answers with'),
    }),
  output: () => z.strictObject({ type: z.enum(['accepted', 'already_resolved', 'unknown']) }),
  codes: [],
})
