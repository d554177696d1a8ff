import * as z from 'zod'
import { gaps } from './shapes/output.ts'
import { reader } from './shapes/reader.ts'
import { record } from './shapes/record.ts'
import { count, duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** With `until`: what was not kept, and so was not looked at. */
const truncated = gaps.exactOptional()

/**
 * A timeout is an answer, not an error, and so is a wait that was called off: the process lives on. With `until` it
 * waits for a line of a command's output; one that was printed before counts, from the offset `from` on, and the end of the
 * process ends the wait.
 */
export const wait = verb({
  summary: 'Waits until a process has ended, or a command is ready or has printed a line.',
  route: 'GET /processes/{pid}/wait',
  needs: 'read',
  input: z
    .strictObject({
      pid: processRef,
      timeoutMs: duration.exactOptional().describe('180 s by default'),
      ready: z
        .literal(true)
        .exactOptional()
        .describe('until the command is ready, as its spec says; its end ends the wait'),
      until: z
        .strictObject({
          text: z.string().min(1).max(10_000).exactOptional(),
          pattern: z.string().min(1).max(10_000).exactOptional().describe('an RE2 pattern'),
          from: count
            .default(0)
            .describe('a byte offset in the output log; what was printed before it does not count'),
        })
        .refine(
          ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
          'give either text or pattern',
        )
        .exactOptional(),
      reader: reader.exactOptional().describe('of the session: others of it are still told of the end'),
    })
    .refine(({ until, ready }) => until === undefined || ready === undefined, 'give either until or ready'),
  output: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('ended'), record, truncated }),
    z.strictObject({ type: z.literal('ready'), record }),
    /** It was not ready in the time that its spec gives it, and runs on. */
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
      /** What it was cut down to, where a longer time was asked for than is allowed. */
      clampedToMs: duration.exactOptional(),
      /** With `until`: lines before it were looked at, so that a next wait may begin there (`until.from`). */
      scannedTo: count.exactOptional(),
      truncated,
    }),
    z.strictObject({ type: z.literal('interrupted') }),
  ]),
  codes: [
    'no_readiness',
    'unknown_pid',
    'ambiguous_pid',
    'pruned_pid',
    'denied',
    'not_command',
    'not_served',
    'no_output',
  ],
})
