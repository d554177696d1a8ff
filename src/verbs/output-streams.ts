import * as z from 'zod'
import { readCodes, stream } from './shapes/output.ts'
import { count, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Whoever reads bytes learns here through which of the two pipes they came. */
export const outputStreams = verb({
  summary: 'From where on the output of a command is of which stream.',
  route: 'GET /processes/{pid}/output-streams',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    from: count.default(0).describe('a byte offset in the output log'),
    to: count.exactOptional().describe('the offset to stop at'),
    times: z.boolean().default(false).describe('with when it was printed'),
  }),
  output: z.strictObject({
    /** Each up to the next; the first may begin before `from`. None where the streams are not kept apart. */
    parts: z.array(z.strictObject({ offset: count, stream })),
    /** When the bytes from each offset on were printed, to the second; the first may begin before `from`. */
    times: z.array(z.strictObject({ offset: count, at: time })).exactOptional(),
    /** Nothing is said of what was written behind it. */
    end: count,
  }),
  codes: [...readCodes],
})
