import * as z from 'zod'
import { ansi, gaps, line, readCodes, reveal, stream } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const log = verb({
  summary: "Reads lines of a command's output: the last 200, or a page from either end.",
  description: 'Lines are numbered from 0 over the lines that are kept.',
  route: 'GET /processes/{pid}/log',
  needs: 'read',
  // The text was masked when the log was read.
  masking: 'none',
  input: () =>
    z.strictObject({
      pid: processRef,
      from: z
        .enum(['start', 'end'])
        .default('end')
        .describe('the end of the log that the page is counted from'),
      offset: count.default(0).describe('how many lines to skip from there'),
      limit: z.number().int().min(1).max(10_000).default(200).describe('the maximum number of lines'),
      stream: stream.exactOptional().describe('of a command with output: tagged, this stream only'),
      reader: reader
        .exactOptional()
        .describe('one of the readers of the session: the others still get the notice of the end'),
      ansi,
      reveal,
    }),
  output: () =>
    z.strictObject({
      lines: z.array(line),
      total: count,
      truncated: gaps,
      /** `offset`, from the start, of the next page and of the previous one. */
      next: count.nullable(),
      previous: count.nullable(),
    }),
  codes: [...readCodes],
})
