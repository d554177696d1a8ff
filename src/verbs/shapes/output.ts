import * as z from 'zod'
import { commandCodes } from './codes.ts'
import { count } from './scalars.ts'

/** Bytes of an output log that are no longer kept: from the first missing byte up to the next one that is there. */
export const gap = z.strictObject({
  from: count.describe('the offset of the first missing byte'),
  to: count.describe('the offset of the next byte that is there'),
})
export const gaps = z.array(gap)
/** Opaque text to continue reading from. */
export const outputCursor = z.string().regex(/^o[0-9]{1,16}$/, 'must be a cursor from an earlier answer')
export const ansi = z
  .enum(['keep', 'strip', 'render'])
  .default('strip')
  .describe(
    'escape sequences such as colours: kept or stripped; render: as a terminal would show the output, also where text overwrites other text',
  )
/** Recorded with the process, once a minute for each actor. */
export const reveal = z
  .boolean()
  .default(false)
  .describe('shows secrets instead of masking them; needs the role admin, and is recorded with the process')
/** The streams of a command. */
export const commandStream = z.enum(['stdout', 'stderr'])
/** The streams of a command or an agent. */
export const stream = z
  .enum(['stdout', 'stderr', 'text', 'thinking', 'tool_arguments', 'label'])
  .describe(
    'of a command with tagged output: stdout or stderr; of an agent: text, thinking or the arguments of tool calls that its model streams, and labels between them: line breaks and names of tools',
  )
export const line = z.strictObject({
  /** From 0, over the lines that are kept. */
  number: count,
  /** The offset of its first byte in the log. */
  offset: count,
  text: z.string(),
  stream: stream.exactOptional(),
  /** A gap is before or after it. */
  partial: z.literal(true).exactOptional(),
  /** Only its beginning is shown, because it is too long. */
  cut: z.literal(true).exactOptional(),
  /** Printed after the command's end, by a program that it left running. */
  late: z.literal(true).exactOptional(),
})
export const readCodes = [...commandCodes, 'no_output'] as const
