import * as z from 'zod'
import { ansi, gaps, line, readCodes, reveal, stream } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Lines are numbered from 0 over those that are kept. */
export const log = verb({
  summary: "Lines of a command's output: the last 200, or a page from either end.",
  route: 'GET /processes/{pid}/log',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    from: z.enum(['start', 'end']).default('end'),
    offset: count.default(0).describe('how many lines to leave out, counted from there'),
    limit: z.number().int().min(1).max(10_000).default(200),
    stream: stream.exactOptional().describe('of a command with output: tagged, this one alone'),
    reader: reader.exactOptional().describe('of the session: others of it are still told of the end'),
    ansi,
    reveal,
  }),
  output: z.strictObject({
    lines: z.array(line),
    total: count,
    truncated: gaps,
    /** `offset` from the start of the page behind this one, and of the one before. */
    next: count.nullable(),
    previous: count.nullable(),
  }),
  codes: [...readCodes],
})
