import { numberedLines } from '../../../core/files/numbered-lines.ts'
import { INLINE_BYTES } from '../../../core/tool/spill.ts'
import { type OutputPart, ToolError } from '../agent-tool.ts'
import { type FileContent, textOf } from './read-content.ts'
import type { WorkspacePath } from './workspace-path.ts'

export const DEFAULT_LINES = 1_000
export const MAX_LINES = 5_000
/** As much as a result has inline, several times: a file is read to be worked on. */
const MAX_SHOWN_CHARS = 8 * INLINE_BYTES
/** What providers accept. */
const MAX_IMAGE_BYTES = 3_750_000

/** The lines of a text file with their numbers, as many as fit, and how to read on. */
export function shownLines(
  { shown }: WorkspacePath,
  { bytes }: FileContent,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): string {
  const text = textOf(bytes, shown)
  if (text === '') return `${shown} is empty.`
  const lines = numberedLines(text, { offset, limit })
  if (offset > lines.total)
    throw new ToolError(
      'invalid_input',
      `${shown} has ${lines.total} lines; line ${offset} is behind its end.`,
    )
  const fitting = lines.text.length <= MAX_SHOWN_CHARS ? lines : firstThatFit(text, offset, lines.text)
  const rest =
    fitting.last < lines.total
      ? `\n(lines ${fitting.first} to ${fitting.last} of ${lines.total}; go on with offset ${fitting.last + 1})`
      : ''
  return `${fitting.text}${rest}`
}

/** At least one line, which is cut if it is long. */
function firstThatFit(text: string, offset: number, numbered: string) {
  const end = numbered.lastIndexOf('\n', MAX_SHOWN_CHARS)
  const limit = end === -1 ? 1 : numbered.slice(0, end).split('\n').length
  return numberedLines(text, { offset, limit })
}

const MAGIC: readonly (readonly [mediaType: string, matches: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['image/gif', (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))],
  [
    'image/webp',
    (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  ],
]

/** The picture that a file is; undefined if it is none. */
export function pictureIn(
  { shown }: WorkspacePath,
  { bytes }: FileContent,
): Extract<OutputPart, { type: 'image' }> | undefined {
  const mediaType = MAGIC.find(([, matches]) => matches(bytes))?.[0]
  if (mediaType === undefined) return undefined
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolError(
      'too_large',
      `${shown} is a picture of ${bytes.length} bytes; models take at most ${MAX_IMAGE_BYTES}. Make it smaller with a command.`,
    )
  return { type: 'image', mediaType, data: bytes.toString('base64') }
}
