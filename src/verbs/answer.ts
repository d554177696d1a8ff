import * as z from 'zod'
import { json } from './shapes/json.ts'
import { verb } from './verb.ts'

/** Whoever has the key may answer, once. */
export const answer = verb({
  summary: 'Answers a wait through its one-shot key.',
  route: 'POST /answers',
  needs: 'operate',
  input: z.strictObject({ key: z.string().min(1).max(500), value: json.optional() }),
  output: z.strictObject({ answer: z.enum(['accepted', 'already_resolved', 'unknown']) }),
  codes: [],
})
