import * as z from 'zod'
import { commandCodes } from './shapes/codes.ts'
import { gaps } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { record } from './shapes/record.ts'
import { count, duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** With `until`: output that was not kept, and so was not searched. */
const truncated = gaps.exactOptional()

export const wait = verb({
  summary: 'Waits until a process has ended, or a command is ready or has printed a line.',
  description:
    "A timeout is an answer, not an error, and so is an aborted wait: the process lives on. With `until` it waits for a line of a command's output. Lines that were printed before count, too, from the offset `from` on. The end of the process ends the wait.",
  route: 'GET /processes/{pid}/wait',
  needs: 'read',
  interrupted: { type: 'interrupted' },
  masking: 'values',
  input: z
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
  output: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('ended'), record, truncated }),
    z.strictObject({ type: z.literal('ready'), record }),
    /** It was not ready within the time of its spec, and runs on. */
    z.strictObject({ type: z.literal('not_ready'), record }),
    z.strictObject({
      type: z.literal('matched'),
      record,
      line: z.strictObject({ offset: count, text: z.string() }),
      truncated: gaps,
    }),
    z.strictObject({
      type: z.literal('timed_out'),
      record,
      /** The longest time that is allowed, if `timeoutMs` was longer. */
      clampedToMs: duration.exactOptional(),
      /** With `until`: lines before it were searched, so that a next wait may begin there (`until.from`). */
      scannedTo: count.exactOptional(),
      truncated,
    }),
    z.strictObject({ type: z.literal('interrupted') }),
  ]),
  codes: ['no_readiness', ...commandCodes, 'no_output'],
})
