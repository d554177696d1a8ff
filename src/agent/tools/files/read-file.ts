import * as z from 'zod'
import { type AgentTool, agentTool, type OutputPart, ToolError } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { readContent } from './read-content.ts'
import { DEFAULT_LINES, MAX_LINES, pictureIn, shownLines } from './shown-content.ts'
import { fileNeed, refuseOutside, resolveOutsideMemory } from './workspace-path.ts'

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

export function readFileTool(parts: FileToolParts): AgentTool {
  const { root, agent, tracker, isNamed } = parts
  return agentTool({
    name: 'read_file',
    description:
      'Reads a text file with line numbers, or shows a picture (PNG, JPEG, GIF, WebP). Read a file before you change it.',
    input,
    recovery: 'rerunnable',
    essential: true,
    isBounded: true,
    needs: async ({ path }) => [fileNeed('read', root, await resolveOutsideMemory(parts, path))],
    async run({ path: given, offset = 1, limit = DEFAULT_LINES }) {
      const path = await resolveOutsideMemory(parts, given)
      await refuseOutside(path, fileNeed('read', root, path), isNamed)
      const content = await readContent(path)
      if (content === null)
        throw new ToolError(
          'not_found',
          `There is no file ${path.shown}. List its folder, or search for its name.`,
        )
      tracker.read(agent, path.real, content.hash)
      const picture = pictureIn(path, content)
      const shown: readonly OutputPart[] =
        picture === undefined
          ? [{ type: 'text', text: shownLines(path, content, { offset, limit }) }]
          : [
              {
                type: 'text',
                text: `${path.shown} (${picture.mediaType}, ${content.bytes.length} bytes)`,
              },
              picture,
            ]
      return { parts: shown, reads: [{ path: path.real, hash: content.hash }] }
    },
  })
}
