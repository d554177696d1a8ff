import * as z from 'zod'
import { inputCodes } from './shapes/input.ts'
import { rawBytes } from './shapes/raw-bytes.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** What is typed is what is given: no Enter is added. */
export const write = verb({
  summary: "Types into a command's terminal, or writes to its standard input.",
  input: z.strictObject({
    pid: processRef,
    text: z.union([z.string().max(1024 * 1024), rawBytes]).describe('text, or raw bytes'),
    seq: count
      .exactOptional()
      .describe('rises with every write; one that the keeper has seen before types nothing again'),
  }),
  output: z.strictObject({ answer: z.enum(['written', 'replayed']), bytes: count }),
  codes: [...inputCodes],
})
