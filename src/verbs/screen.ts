import * as z from 'zod'
import { gap, readCodes, reveal } from './shapes/output.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const screen = verb({
  summary: "Shows the current screen of a command's terminal, as text.",
  description: 'For full-screen programs. Rows and columns are counted from 0.',
  route: 'GET /processes/{pid}/screen',
  needs: 'read',
  // The text was masked when the log was read.
  masking: 'none',
  input: () =>
    z.strictObject({
      pid: processRef,
      scrollback: z.number().int().min(0).max(1_000).default(0).describe('how many lines above the screen'),
      reveal,
    }),
  output: () =>
    z.strictObject({
      cols: count,
      rows: count,
      lines: z.array(z.string()),
      scrollback: z.array(z.string()),
      cursor: z.strictObject({ row: count, column: count }),
      /** Full-screen programs use the alternate screen. */
      alternate: z.boolean(),
      title: z.string().exactOptional(),
      /** The offset in the output log that this screen shows. */
      offset: count,
      truncated: gap.nullable(),
    }),
  codes: [...readCodes, 'no_terminal'],
})
