import { join } from 'node:path'
import type { MemoryChange } from '../../core/memory/memory-change.ts'
import { memoryIndex } from '../../core/memory/memory-index.ts'
import { MEMORY_FOLDERS } from '../../core/memory/memory-path.ts'
import type { Pid } from '../../core/process/pid.ts'
import { ToolError } from '../tools/agent-tool.ts'
import type { FileToolParts } from '../tools/files/file-tools.ts'
import { writeNeed } from '../tools/files/workspace-path.ts'
import { changeMemoryFiles, NO_ONE_TO_ASK } from '../tools/memory/change-memory.ts'
import { memoryFolders, memoryTexts, readableMemory } from '../tools/memory/memory-folder.ts'

/** The long-term memory of one agent, under its rules. */
export interface MemoryStore {
  /** Names and first lines of its files, for a prompt. */
  index(): Promise<string>
  /** Why the rules let no job write its folder `memory`; null if they do. */
  refusesWrites(): Promise<string | null>
  texts(): Promise<readonly { readonly path: string; readonly text: string; readonly hash: string }[]>
  /** Applies all changes or none, for a job that runs here. Returns the paths that it changed. */
  change(job: Pid, changes: readonly MemoryChange[]): Promise<readonly string[]>
}

const [OWN] = MEMORY_FOLDERS

export function memoryStore(parts: FileToolParts): MemoryStore {
  const { root, ruling } = parts
  const files = async () => {
    // No person can be asked: what needs an answer is left out.
    const folders = memoryFolders(root)
    const rulings = await Promise.all(folders.map(({ need }) => ruling(need)))
    return readableMemory(
      parts,
      folders.filter((_, index) => rulings[index]?.type === 'allow'),
    )
  }
  return {
    async index() {
      try {
        return memoryIndex(await files())
      } catch (error) {
        if (error instanceof ToolError) return `Long-term memory cannot be read now. ${error.message}`
        throw error
      }
    },
    async refusesWrites() {
      const ruled = await ruling(writeNeed(root, { real: join(root, OWN), shown: OWN, isInside: true }, 0))
      return ruled.type === 'allow' ? null : ruled.type === 'deny' ? ruled.reason : NO_ONE_TO_ASK
    },
    texts: async () => memoryTexts(root, await files()),
    change: (job, changes) => changeMemoryFiles(parts, job, changes),
  }
}
