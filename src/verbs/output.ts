import * as z from 'zod'
import { gap, readCodes, reveal } from './shapes/output.ts'
import { rawBytes } from './shapes/raw-bytes.ts'
import { count, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const output = verb({
  summary: "Reads bytes of a command's output log, from an offset on.",
  description: 'Offsets never shift. A page never spans a gap: it begins after the gap, and names it.',
  route: 'GET /processes/{pid}/output',
  needs: 'read',
  // The text was masked when the log was read.
  masking: 'none',
  input: () =>
    z.strictObject({
      pid: processRef,
      offset: count.exactOptional().describe('a byte offset; 0 by default'),
      since: time
        .exactOptional()
        .describe('instead of an offset: from the bytes that were printed at that time, or shortly before'),
      limit: z
        .number()
        .int()
        .min(1)
        .max(1024 * 1024)
        .default(64 * 1024)
        .describe('the maximum number of bytes'),
      reveal,
      terminal: z
        .boolean()
        .default(false)
        .describe(
          'for a person at a terminal, on the Unix socket or in the same program: nothing is masked, and no reveal is recorded',
        ),
    }),
  output: () =>
    z.strictObject({
      offset: count,
      bytes: rawBytes,
      next: count,
      /** The length of the log now. */
      end: count,
      gap: gap.nullable(),
      /** When these bytes were written, if the index says so. */
      at: count.nullable(),
    }),
  codes: [...readCodes],
})
