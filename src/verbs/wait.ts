import * as z from 'zod'
import { commandCodes } from './shapes/codes.ts'
import { gaps } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { record } from './shapes/record.ts'
import { count, duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const truncated = gaps
  .exactOptional()
  .describe('with `until`: output that was not kept, and so was not searched')
const waited = record.describe('the process now')

export const wait = verb({
  summary: 'Waits until a process has ended, or a command is ready or has printed a line.',
  description:
    "A timeout is an answer, not an error, and so is an aborted wait: the process lives on. With `until` it waits for a line of a command's output. Lines that were printed before count, too, from the offset `from` on. The end of the process ends the wait.",
  route: 'GET /processes/{pid}/wait',
  needs: 'read',
  interrupted: { type: 'interrupted' },
  masking: 'values',
  input: () =>
    z
      .strictObject({
        pid: processRef,
        timeoutMs: duration.exactOptional().describe('how long to wait, in milliseconds; 180 s by default'),
        ready: z
          .literal(true)
          .exactOptional()
          .describe('wait until the command is ready, as its spec says; its end ends the wait'),
        until: z
          .strictObject({
            text: z.string().min(1).max(10_000).exactOptional().describe('a text that the line contains'),
            pattern: z.string().min(1).max(10_000).exactOptional().describe('an RE2 pattern'),
            from: count.default(0).describe('a byte offset in the output log; lines before it do not count'),
          })
          .refine(
            ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
            'give either text or pattern',
          )
          .exactOptional()
          .describe('wait for a line of the output'),
        reader: reader
          .exactOptional()
          .describe('one of the readers of the session: the others still get the notice of the end'),
      })
      .refine(({ until, ready }) => until === undefined || ready === undefined, 'give either until or ready'),
  output: () =>
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('ended'), record: waited, truncated }),
      z.strictObject({ type: z.literal('ready'), record: waited }),
      /** It was not ready within the time of its spec, and runs on. */
      z.strictObject({ type: z.literal('not_ready'), record: waited }),
      z.strictObject({
        type: z.literal('matched'),
        record: waited,
        line: z
          .strictObject({
            offset: count.describe('the offset of its first byte in the output log'),
            text: z.string().describe('the line'),
          })
          .describe('the line that matched'),
        truncated: gaps.describe('output that was not kept, and so was not searched'),
      }),
      z.strictObject({
        type: z.literal('timed_out'),
        record: waited,
        clampedToMs: duration
          .exactOptional()
          .describe('the longest time that is allowed, if `timeoutMs` was longer'),
        scannedTo: count
          .exactOptional()
          .describe('with `until`: lines before this offset were searched; a next wait may begin there'),
        truncated,
      }),
      z.strictObject({ type: z.literal('interrupted') }),
    ]),
  codes: ['no_readiness', ...commandCodes, 'no_output'],
})
