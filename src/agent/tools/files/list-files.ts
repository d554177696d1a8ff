import * as z from 'zod'
import { type AgentTool, agentTool, textOutput } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { UnreadPaths } from './unread-paths.ts'
import { MAX_ENTRIES, walk } from './walk.ts'
import { fileNeed, refuseOutside, resolveOutsideMemory, withoutMemory } from './workspace-path.ts'

const MAX_LISTED = 500
const MAX_DEPTH = 10

const input = z.strictObject({
  path: z.string().min(1).optional().describe('the folder; the workspace if left out'),
  depth: z.number().int().min(1).max(MAX_DEPTH).optional().describe('how many levels to list; 1 if left out'),
  includeIgnored: z.boolean().optional().describe('also list what .gitignore names'),
})

const MARKS = { folder: '/', file: '', link: '@', other: '|' } as const

export function listFilesTool(parts: FileToolParts): AgentTool {
  const { root, isNamed, readable } = parts
  return agentTool({
    name: 'list_files',
    description:
      'Lists the files of a folder. Folders end with /, links with @. What .gitignore names is left out.',
    input,
    recovery: 'rerunnable',
    essential: true,
    isBounded: true,
    needs: async ({ path = '.' }) => [fileNeed('read', root, await resolveOutsideMemory(parts, path))],
    async run({ path: given = '.', depth = 1, includeIgnored = false }, { abortSignal }) {
      const path = await resolveOutsideMemory(parts, given)
      const need = fileNeed('read', root, path)
      await refuseOutside(path, need, isNamed)
      const [unread, mayRead] = [new UnreadPaths(), withoutMemory(parts, await readable(need))]
      const options = { root, signal: abortSignal, maxDepth: depth, includeIgnored, mayRead, unread }
      const entries = walk(path, options)
      const lines: string[] = []
      let more = 0
      for (let next = await entries.next(); ; next = await entries.next()) {
        if (next.done) {
          if (next.value === 'cut_off') lines.push(`(stopped after ${MAX_ENTRIES} entries)`)
          break
        }
        if (lines.length < MAX_LISTED) lines.push(`${next.value.path}${MARKS[next.value.type]}`)
        else more += 1
      }
      if (more > 0) lines.push(`(${more} more; list a folder below, or search)`)
      const listed = lines.length === 0 ? [`${path.shown} is empty.`] : lines
      return textOutput([...listed, ...unread.notes.map((note) => `(${note})`)].join('\n'))
    },
  })
}
