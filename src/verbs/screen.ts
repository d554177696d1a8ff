import * as z from 'zod'
import { gap, readCodes, reveal } from './shapes/output.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** For terminal programs: what somebody in front of it would see. Rows and columns are counted from 0. */
export const screen = verb({
  summary: 'What the terminal of a command shows now, as text.',
  route: 'GET /processes/{pid}/screen',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    scrollback: z.number().int().min(0).max(1_000).default(0).describe('lines above the screen, too'),
    reveal,
  }),
  output: z.strictObject({
    cols: count,
    rows: count,
    lines: z.array(z.string()),
    scrollback: z.array(z.string()),
    cursor: z.strictObject({ row: count, column: count }),
    /** Full-screen programs use the alternate screen. */
    alternate: z.boolean(),
    title: z.string().exactOptional(),
    /** How far into the output log this is. */
    offset: count,
    truncated: gap.nullable(),
  }),
  codes: [...readCodes, 'no_terminal'],
})
