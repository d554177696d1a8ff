import * as z from 'zod'
import { linesOf } from '../../../core/files/numbered-lines.ts'
import { type AgentTool, agentTool } from '../agent-tool.ts'
import { changeFile } from './change-file.ts'
import type { FileToolParts } from './file-tools.ts'
import { shownChange } from './shown-change.ts'
import { resolveOutsideMemory, writeNeed } from './workspace-path.ts'

const input = z.strictObject({
  path: z.string().min(1).describe('the file, relative to the workspace or absolute'),
  content: z.string().describe('the whole new content'),
})

export function writeFileTool(parts: FileToolParts): AgentTool {
  return agentTool({
    name: 'write_file',
    description:
      'Writes a whole file, and makes the folders above it. A file that exists must have been read before. Prefer edit_file for small changes.',
    input,
    recovery: 'bound',
    essential: true,
    needs: async ({ path, content }) => [
      writeNeed(parts.root, await resolveOutsideMemory(parts, path), Buffer.byteLength(content)),
    ],
    preview: ({ path, content }) => shownChange(parts, path, () => content),
    run: ({ path: given, content }, context) =>
      changeFile(parts, given, context, (_, before) => ({
        text: content,
        say: ({ shown }) =>
          `${before === null ? 'Made' : 'Replaced'} ${shown} (${linesText(linesOf(content).length)}).`,
      })),
  })
}

function linesText(count: number): string {
  return `${count} ${count === 1 ? 'line' : 'lines'}`
}
