import * as z from 'zod'
import { inputCodes } from './shapes/input.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const closeInput = verb({
  summary: "Closes a command's standard input.",
  description: 'In a terminal it sends Ctrl-D, and the program decides what that means.',
  route: 'POST /processes/{pid}/close-input',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ pid: processRef }),
  output: () => z.strictObject({ type: z.enum(['closed']) }),
  codes: [...inputCodes],
})
