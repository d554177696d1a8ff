import { ToolError } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { type FileContent, readContent } from './read-content.ts'
import { fileNeed, refuseOutside, resolveOutsideMemory, type WorkspacePath } from './workspace-path.ts'

/** What a change would make of a file, as the file is now. */
export interface PlannedChange {
  readonly path: WorkspacePath
  readonly before: FileContent | null
  readonly text: string
}

/** The new content of a file, by its present one. Throws a `ToolError` if it cannot be changed so. */
export type NewText = (path: WorkspacePath, before: FileContent | null) => string

/** Finds out what a change would do. Null for one that would be refused: it writes nothing. */
export async function plannedChange(
  parts: Pick<FileToolParts, 'root' | 'isNamed' | 'hasMemory'>,
  given: string,
  newText: NewText,
): Promise<PlannedChange | null> {
  const { root, isNamed } = parts
  try {
    const path = await resolveOutsideMemory(parts, given)
    await refuseOutside(path, fileNeed('read', root, path), isNamed)
    const before = await readContent(path)
    return { path, before, text: newText(path, before) }
  } catch (error) {
    if (error instanceof ToolError) return null
    throw error
  }
}
