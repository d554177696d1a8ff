import * as z from 'zod'
import { numberedLines } from '../../../core/files/numbered-lines.ts'
import { INLINE_BYTES } from '../../../core/tool/spill.ts'
import { type AgentTool, agentTool, ToolError, type ToolOutput } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { type FileContent, readContent, textOf } from './read-content.ts'
import { fileNeed, refuseOutside, resolveIn, type WorkspacePath } from './workspace-path.ts'

const DEFAULT_LINES = 1_000
const MAX_LINES = 5_000
/** As much as a result has inline, several times: a file is read to be worked on. */
const MAX_SHOWN_CHARS = 8 * INLINE_BYTES
/** What providers accept. */
const MAX_IMAGE_BYTES = 3_750_000

const input = z.strictObject({
  path: z.string().min(1).describe('the file, relative to the workspace or absolute'),
  offset: z.number().int().min(1).optional().describe('the first line to read, from 1'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_LINES)
    .optional()
    .describe(`how many lines to read; ${DEFAULT_LINES} if left out`),
})

export function readFileTool({ root, agent, tracker, isNamed }: FileToolParts): AgentTool {
  return agentTool({
    name: 'read_file',
    description:
      'Reads a text file with line numbers, or shows a picture (PNG, JPEG, GIF, WebP). Read a file before you change it.',
    input,
    recovery: 'rerunnable',
    essential: true,
    isBounded: true,
    needs: async ({ path }) => [fileNeed('read', root, await resolveIn(root, path))],
    async run({ path: given, offset = 1, limit = DEFAULT_LINES }) {
      const path = await resolveIn(root, given)
      await refuseOutside(path, fileNeed('read', root, path), isNamed)
      const content = await readContent(path)
      if (content === null)
        throw new ToolError(
          'not_found',
          `There is no file ${path.shown}. List its folder, or search for its name.`,
        )
      tracker.read(agent, path.real, content.hash)
      const output = imageOf(path, content) ?? linesOf(path, content, offset, limit)
      return { ...output, reads: [{ path: path.real, hash: content.hash }] }
    },
  })
}

function linesOf(path: WorkspacePath, { bytes }: FileContent, offset: number, limit: number): ToolOutput {
  const text = textOf(bytes, path.shown)
  if (text === '') return { parts: [{ type: 'text', text: `${path.shown} is empty.` }] }
  const lines = numberedLines(text, { offset, limit })
  if (offset > lines.total)
    throw new ToolError(
      'invalid_input',
      `${path.shown} has ${lines.total} lines; line ${offset} is behind its end.`,
    )
  const fitting = lines.text.length <= MAX_SHOWN_CHARS ? lines : firstThatFit(text, offset, lines.text)
  const rest =
    fitting.last < lines.total
      ? `\n(lines ${fitting.first} to ${fitting.last} of ${lines.total}; go on with offset ${fitting.last + 1})`
      : ''
  return { parts: [{ type: 'text', text: `${fitting.text}${rest}` }] }
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

function imageOf({ shown }: WorkspacePath, { bytes }: FileContent): ToolOutput | undefined {
  const mediaType = MAGIC.find(([, matches]) => matches(bytes))?.[0]
  if (mediaType === undefined) return undefined
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolError(
      'too_large',
      `${shown} is a picture of ${bytes.length} bytes; models take at most ${MAX_IMAGE_BYTES}. Make it smaller with a command.`,
    )
  return {
    parts: [
      { type: 'text', text: `${shown} (${mediaType}, ${bytes.length} bytes)` },
      { type: 'image', mediaType, data: bytes.toString('base64') },
    ],
  }
}
