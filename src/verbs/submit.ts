import * as z from 'zod'
import { inputCodes, writeAnswer } from './shapes/input.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const submit = verb({
  summary: 'Writes a line and presses Enter.',
  route: 'POST /processes/{pid}/submit',
  needs: 'operate',
  repeat: { keys: ['seq'] },
  input: () =>
    z.strictObject({
      pid: processRef,
      text: z
        .string()
        .max(1024 * 1024)
        .describe('the line, without its end'),
      seq: count
        .exactOptional()
        .describe('rises with every write; a number that the keeper has seen is not typed again'),
    }),
  output: () => writeAnswer,
  codes: [...inputCodes],
})
