import * as z from 'zod'
import { heldBack } from './shapes/held-back.ts'
import { ansi, gaps, outputCursor, readCodes, reveal } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { record } from './shapes/record.ts'
import { count, processRef, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Without a cursor a session goes on where its last poll of this process ended, also after a restart. */
export const poll = verb({
  summary: 'How a command is, and what it has printed since last time.',
  route: 'POST /processes/{pid}/poll',
  needs: 'read',
  input: z.strictObject({
    pid: processRef,
    cursor: outputCursor.exactOptional().describe('from an earlier poll; o0 is the beginning'),
    turn: turnId
      .exactOptional()
      .describe('whose turn it is: it is not told again in this turn that it ended'),
    reader: reader.exactOptional().describe('whose position it is, within the session'),
    maxChars: z.number().int().min(1).max(1_000_000).default(2_000),
    ansi,
    reveal,
  }),
  output: z.strictObject({
    record,
    text: z.string(),
    cursor: outputCursor,
    /** There is more already: poll again. */
    more: z.boolean(),
    truncated: gaps,
    heldBack,
    uptimeMs: count,
  }),
  codes: [...readCodes],
})
