import * as z from 'zod'
import { ansi, gaps, line, readCodes, reveal, stream } from './shapes/output.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const search = verb({
  summary: "Finds lines in a command's output, with the lines around them.",
  description: 'Patterns use RE2 syntax: the time is proportional to the searched output.',
  route: 'GET /processes/{pid}/search',
  needs: 'read',
  // The text was masked when the log was read.
  masking: 'none',
  input: () =>
    z
      .strictObject({
        pid: processRef,
        text: z.string().min(1).max(10_000).exactOptional().describe('a text that the line contains'),
        pattern: z.string().min(1).max(10_000).exactOptional().describe('an RE2 pattern'),
        ignoreCase: z.boolean().default(false).describe('upper and lower case are the same'),
        context: z
          .number()
          .int()
          .min(0)
          .max(50)
          .default(0)
          .describe('how many lines before and after each match'),
        from: count.default(0).describe('the byte offset to begin at: next of an earlier answer'),
        stream: stream.exactOptional().describe('this stream only'),
        limit: z.number().int().min(1).max(1_000).default(50).describe('the maximum number of matches'),
        ansi,
        reveal,
      })
      .refine(
        ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
        'give either text or pattern',
      ),
  output: () =>
    z.strictObject({
      matches: z.array(
        line.extend({
          at: count
            .exactOptional()
            .describe('where in text the match begins; for lines longer than 200 characters, if known'),
          before: z.array(line),
          after: z.array(line),
        }),
      ),
      total: count,
      /** There are more matches than `total`: the count is limited. */
      totalIsLeast: z.boolean(),
      /** `from` of the next page of matches. */
      next: count.nullable(),
      truncated: gaps,
      /** The number of lines that were too long, and were searched only at their beginning. */
      cutLines: count,
      /** The offset up to which the log was searched. */
      end: count,
    }),
  codes: [...readCodes],
})
