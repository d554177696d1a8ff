import * as z from 'zod'
import { readCodes, stream } from './shapes/output.ts'
import { count, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const outputStreams = verb({
  summary:
    'Shows to which stream the bytes of an output log belong: stdout or stderr of a command, text or thinking of an agent.',
  description: 'For readers of bytes: `output` and `followOutput` do not tell the streams apart.',
  route: 'GET /processes/{pid}/output-streams',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef,
      from: count.default(0).describe('a byte offset in the output log'),
      to: count.exactOptional().describe('the offset to stop at'),
      times: z.boolean().default(false).describe('also when it was printed'),
    }),
  output: () =>
    z.strictObject({
      /** Each part extends to the next; the first may begin before `from`. Empty if the streams are not kept apart. */
      parts: z.array(z.strictObject({ offset: count, stream })),
      /** When the bytes from each offset on were printed, to the second. The first may begin before `from`. */
      times: z.array(z.strictObject({ offset: count, at: time })).exactOptional(),
      /** The offset up to which the answer tells. */
      end: count,
      /** Of an agent: the model call under way, if it has output. Bytes from `from` on that were read before are its own. */
      call: z.strictObject({ turn: count, call: count, from: count }).exactOptional(),
    }),
  codes: [...readCodes],
})
