import * as z from 'zod'
import { count } from './scalars.ts'

/** Bytes of an output log that are not kept any more: from the first of them to the first that is there again. */
export const gap = z.strictObject({ from: count, to: count })
export const gaps = z.array(gap)
/** Opaque text to go on reading from. */
export const outputCursor = z.string().regex(/^o[0-9]{1,16}$/, 'must be a cursor from an earlier answer')
export const ansi = z
  .enum(['keep', 'strip', 'render'])
  .default('strip')
  .describe(
    'colours and other escape sequences: as they were printed, or taken out; render: as a terminal would show it, also where text is printed over other text',
  )
/** Secrets as they were printed. Noted with the process, once a minute for each who does it. */
export const reveal = z
  .boolean()
  .default(false)
  .describe('shows secrets instead of masking them; needs the role admin, and is noted with the process')
export const stream = z.enum(['stdout', 'stderr'])
export const line = z.strictObject({
  /** From 0, over the lines that are kept. */
  number: count,
  /** Of its first byte in the log. */
  offset: count,
  text: z.string(),
  stream: stream.exactOptional(),
  /** A gap lies before or behind it. */
  partial: z.literal(true).exactOptional(),
  /** Too long to be shown whole. */
  cut: z.literal(true).exactOptional(),
  /** Printed by something that the command left behind, after its end. */
  late: z.literal(true).exactOptional(),
})
export const readCodes = [
  'unknown_pid',
  'ambiguous_pid',
  'pruned_pid',
  'denied',
  'not_command',
  'not_served',
  'no_output',
] as const
