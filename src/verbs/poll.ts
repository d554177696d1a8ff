import * as z from 'zod'
import { heldBack } from './shapes/held-back.ts'
import { ansi, gaps, outputCursor, readCodes, reveal } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { record } from './shapes/record.ts'
import { count, processRef, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const poll = verb({
  summary: 'Shows how a command is, and what it has printed since the last poll.',
  description:
    'Without a cursor a session continues where its last poll of this process ended, also after a restart of the daemon.',
  route: 'POST /processes/{pid}/poll',
  needs: 'read',
  // The text was masked when the log was read.
  masking: 'records',
  input: () =>
    z.strictObject({
      pid: processRef,
      cursor: outputCursor.exactOptional().describe('from an earlier poll; o0 is the beginning'),
      turn: turnId
        .exactOptional()
        .describe('the turn that reads: the notice of the end is not delivered again in this turn'),
      reader: reader.exactOptional().describe('the reader of the session whose position it is'),
      maxChars: z
        .number()
        .int()
        .min(1)
        .max(1_000_000)
        .default(2_000)
        .describe('the maximum number of characters'),
      ansi,
      reveal,
    }),
  output: () =>
    z.strictObject({
      record: record.describe('the process now'),
      text: z.string().describe('output that this reader had not read'),
      cursor: outputCursor.describe('where the text ends, to continue from'),
      more: z.boolean().describe('there is more output now: poll again'),
      truncated: gaps.describe('output that was not kept'),
      heldBack,
      uptimeMs: count.describe('how long it has run, in milliseconds'),
    }),
  codes: [...readCodes],
})
