import * as z from 'zod'
import { inputCodes } from './shapes/input.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** For a terminal this is Ctrl-D, which a program may take as it likes. */
export const closeInput = verb({
  summary: "Ends a command's standard input.",
  route: 'POST /processes/{pid}/close-input',
  needs: 'operate',
  input: z.strictObject({ pid: processRef }),
  output: z.strictObject({ answer: z.enum(['closed']) }),
  codes: [...inputCodes],
})
