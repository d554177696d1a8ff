import * as z from 'zod'
import type { Verb } from '../verbs/verb.ts'

/** Set in tests, also for the daemons that they start. An answer that does not fit its verb's schema is then an error. */
const isChecked = process.env['REEVE_CHECK_ANSWERS'] === '1'

/** Every answer of every verb passes here. Parsing costs time, so only tests do it. */
export function checkAnswer(name: string, { output }: Pick<Verb, 'output'>, answer: unknown): unknown {
  if (!isChecked) return answer
  const parsed = output.safeParse(answer)
  if (parsed.success) return answer
  throw new Error(`The answer of ${name} does not fit its schema: ${z.prettifyError(parsed.error)}`)
}
