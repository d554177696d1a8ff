import * as z from 'zod'
import { readCodes, stream } from './shapes/output.ts'
import { count, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const outputStreams = verb({
  summary: 'Shows which bytes of the output of a command are stdout and which are stderr.',
  description: 'For readers of bytes: `output` and `followOutput` do not tell the two pipes apart.',
  route: 'GET /processes/{pid}/output-streams',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    from: count.default(0).describe('a byte offset in the output log'),
    to: count.exactOptional().describe('the offset to stop at'),
    times: z.boolean().default(false).describe('also when it was printed'),
  }),
  output: z.strictObject({
    /** Each part extends to the next; the first may begin before `from`. Empty if the streams are not kept apart. */
    parts: z.array(z.strictObject({ offset: count, stream })),
    /** When the bytes from each offset on were printed, to the second. The first may begin before `from`. */
    times: z.array(z.strictObject({ offset: count, at: time })).exactOptional(),
    /** The offset up to which the answer tells. */
    end: count,
  }),
  codes: [...readCodes],
})
