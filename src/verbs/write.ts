import * as z from 'zod'
import { inputCodes, writeAnswer } from './shapes/input.ts'
import { rawBytes } from './shapes/raw-bytes.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const MAX_BYTES = 1024 * 1024
const boundedBytes = rawBytes.refine(({ length }) => length <= MAX_BYTES, 'must have at most 1 MiB')

export const write = verb({
  summary: "Types into a command's terminal, or writes to its standard input.",
  description: 'The text is written as it is. No Enter is added.',
  route: 'POST /processes/{pid}/write',
  needs: 'operate',
  repeat: { keys: ['seq'] },
  input: () =>
    z.strictObject({
      pid: processRef,
      text: z.union([z.string().max(MAX_BYTES), boundedBytes]).describe('text, or raw bytes'),
      seq: count
        .exactOptional()
        .describe('rises with every write; a number that the keeper has seen is not typed again'),
    }),
  output: () => writeAnswer,
  codes: [...inputCodes],
})
