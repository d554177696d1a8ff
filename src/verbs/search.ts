import * as z from 'zod'
import { ansi, gaps, line, readCodes, reveal, stream } from './shapes/output.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** Patterns are RE2's: every one of them takes time in proportion to what is searched. */
export const search = verb({
  summary: "Finds lines in a command's output, with the lines around them.",
  route: 'GET /processes/{pid}/search',
  needs: 'read',
  input: z
    .strictObject({
      pid: processRef,
      text: z.string().min(1).max(10_000).exactOptional(),
      pattern: z.string().min(1).max(10_000).exactOptional().describe('an RE2 pattern'),
      ignoreCase: z.boolean().default(false),
      context: z.number().int().min(0).max(50).default(0).describe('lines before and after each'),
      from: count.default(0).describe('the byte offset to begin at: next of an earlier answer'),
      stream: stream.exactOptional(),
      limit: z.number().int().min(1).max(1_000).default(50),
      ansi,
      reveal,
    })
    .refine(
      ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
      'give either text or pattern',
    ),
  output: z.strictObject({
    matches: z.array(
      line.extend({
        at: count
          .exactOptional()
          .describe('where in text the match begins; of lines longer than 200 characters, if known'),
        before: z.array(line),
        after: z.array(line),
      }),
    ),
    total: count,
    /** There are more than `total`: counting has a ceiling. */
    totalIsLeast: z.boolean(),
    /** `from` for the matches behind these. */
    next: count.nullable(),
    truncated: gaps,
    /** Lines too long to be searched whole: only the beginning of each was. */
    cutLines: count,
    /** What was written behind it was not searched. */
    end: count,
  }),
  codes: [...readCodes],
})
