import * as z from 'zod'
import { applyEdits, type Edit, type EditAnswer, type EditProblem } from '../../../core/files/apply-edits.ts'
import { type AgentTool, agentTool, ToolError } from '../agent-tool.ts'
import { changeFile } from './change-file.ts'
import type { FileToolParts } from './file-tools.ts'
import { plannedChange } from './planned-change.ts'
import { type FileContent, textOf } from './read-content.ts'
import { shownChange } from './shown-change.ts'
import { fileNeed, resolveOutsideMemory, type WorkspacePath, writeNeed } from './workspace-path.ts'

const MAX_EDITS = 100

export const edits = z
  .array(
    z.strictObject({
      oldText: z
        .string()
        .min(1)
        .describe('the text to replace, exactly as it is in the file, without line numbers'),
      newText: z.string().describe('the text to put there'),
      replaceAll: z.boolean().optional().describe('replace every occurrence, not exactly one'),
    }),
  )
  .min(1)
  .max(MAX_EDITS)
  .describe('applied in order; all of them, or none')

const input = z.strictObject({
  path: z.string().min(1).describe('the file, relative to the workspace or absolute'),
  edits,
})

export function editFileTool(parts: FileToolParts): AgentTool {
  return agentTool({
    name: 'edit_file',
    description:
      'Replaces exact texts in a file that was read before. Each oldText must be in the file exactly once; add lines around it to make it unique.',
    input,
    recovery: 'bound',
    essential: true,
    needs: async ({ path, edits: asked }) => {
      const { root } = parts
      const resolved = await resolveOutsideMemory(parts, path)
      const planned = await plannedChange(parts, path, (...file) => edited(...file, asked).text)
      const bytes = planned === null ? 0 : Buffer.byteLength(planned.text)
      return [fileNeed('read', root, resolved), writeNeed(root, resolved, bytes)]
    },
    preview: ({ path, edits: asked }) => shownChange(parts, path, (...file) => edited(...file, asked).text),
    run: ({ path: given, edits: asked }, context) =>
      changeFile(parts, given, context, (path, content) => {
        const { text, count, lines } = edited(path, content, asked)
        const places = `${count === 1 ? 'line' : 'lines'} ${[...new Set(lines)].join(', ')}`
        return {
          text,
          say: ({ shown }) =>
            `Edited ${shown}: ${count} ${count === 1 ? 'replacement' : 'replacements'}, ${places}.`,
        }
      }),
  })
}

export function edited(
  path: WorkspacePath,
  content: FileContent | null,
  edits: readonly Edit[],
): Extract<EditAnswer, { type: 'edited' }> {
  if (content === null)
    throw new ToolError('not_found', `There is no file ${path.shown}. Make it with write_file.`)
  const answer = applyEdits(textOf(content.bytes, path.shown), edits)
  if (answer.type === 'refused')
    throw new ToolError('edit_refused', whyRefused(path, answer.index, answer.reason, edits.length), {
      edit: answer.index,
    })
  return answer
}

function whyRefused({ shown }: WorkspacePath, index: number, problem: EditProblem, count: number): string {
  const edit = count === 1 ? 'oldText' : `oldText of edit ${index + 1}`
  const nothing = count === 1 ? '' : ' No edit was made.'
  switch (problem.type) {
    case 'not_found':
      return `${edit} is not in ${shown}. Compare it with the file, spaces and line ends included.${nothing}`
    case 'not_unique':
      return `${edit} is ${problem.count} times in ${shown}, at lines ${problem.lines.join(', ')}. Add lines around it, or set replaceAll.${nothing}`
    case 'no_change':
      return `${edit} and its newText are the same.${nothing}`
  }
}
