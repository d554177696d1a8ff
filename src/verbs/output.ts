import * as z from 'zod'
import { gap, readCodes, reveal } from './shapes/output.ts'
import { rawBytes } from './shapes/raw-bytes.ts'
import { count, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Offsets never shift. A page never spans a gap: it begins behind one, and names it. */
export const output = verb({
  summary: "Bytes of a command's output log, from an offset on.",
  route: 'GET /processes/{pid}/output',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    offset: count.exactOptional().describe('0 by default'),
    since: time
      .exactOptional()
      .describe('instead of an offset: from what was printed at that time, or shortly before'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(1024 * 1024)
      .default(64 * 1024),
    reveal,
    terminal: z
      .boolean()
      .default(false)
      .describe(
        'for a terminal that a person sits at, on the Unix socket or in the same program: nothing is masked, and nothing noted',
      ),
  }),
  output: z.strictObject({
    offset: count,
    bytes: rawBytes,
    next: count,
    /** How long the log is now. */
    end: count,
    gap: gap.nullable(),
    /** When these bytes were written, as far as the index tells. */
    at: count.nullable(),
  }),
  codes: [...readCodes],
})
