import type { ChangeVerdict } from '../../../core/files/judge-change.ts'
import { type AgentToolContext, type FileChange, ToolError, type ToolOutput } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { type FileContent, hashOf, MAX_FILE_BYTES, readContent } from './read-content.ts'
import { replaceFile } from './replace-file.ts'
import {
  fileNeed,
  refuseOutside,
  resolveOutsideMemory,
  type WorkspacePath,
  writeNeed,
} from './workspace-path.ts'

/** The new content of a file, and the text about it for the model. */
export interface NewContent {
  readonly text: string
  say(path: WorkspacePath): string
}

/**
 * Changes a file whose current content the agent knows. Check and write are one step for all agents of this program; a change
 * by another program in the last moment may be overwritten, as with any editor.
 */
export async function changeFile(
  parts: FileToolParts,
  given: string,
  { pid, abortSignal, ruledBytes }: AgentToolContext,
  change: (path: WorkspacePath, content: FileContent | null) => NewContent,
): Promise<ToolOutput> {
  const { root, agent, tracker, isNamed, ruling, checkWrite } = parts
  const path = await resolveOutsideMemory(parts, given)
  await refuseOutside(path, fileNeed('write', root, path), isNamed)
  return tracker.exclusively(path.real, async () => {
    abortSignal.throwIfAborted()
    await checkWrite(path.real, pid)
    const content = await readContent(path)
    refuseStale(path, await tracker.judge(agent, path.real, content?.hash ?? null))
    const { text, say } = change(path, content)
    const bytes = Buffer.from(text)
    if (bytes.length > MAX_FILE_BYTES)
      throw new ToolError(
        'too_large',
        `${path.shown} would have ${bytes.length} bytes; at most ${MAX_FILE_BYTES} are written.`,
      )
    // The file has changed since the call was ruled on, such as by another call of the same turn.
    if (ruledBytes !== undefined && ruledBytes !== bytes.length) {
      const now = await ruling(writeNeed(root, path, bytes.length))
      if (now.type === 'deny') throw new ToolError('refused', `${path.shown}: ${now.reason}`)
    }
    const after = hashOf(bytes)
    // The reading took time: the paths may belong to another agent by now.
    await checkWrite(path.real, pid)
    await replaceFile(path, bytes, content?.mode ?? null)
    tracker.changed(agent, path.real, after)
    const { hash: before, bytes: was } = content ?? { hash: null, bytes: null }
    const changed: FileChange = { path: path.real, before, after, was }
    return { parts: [{ type: 'text', text: say(path) }], changes: [changed] }
  })
}

export function refuseStale({ real, shown }: WorkspacePath, verdict: ChangeVerdict): void {
  switch (verdict.type) {
    case 'allowed':
      return
    case 'not_read':
      throw new ToolError('not_read', `${shown} exists, and you have not read it. Read it first.`, {
        path: real,
      })
    case 'changed': {
      const by = verdict.by === null ? 'since you read it' : `by agent ${verdict.by} since you read it`
      throw new ToolError(
        'file_changed',
        `${shown} was changed ${by}. Read it again, then repeat the change if it is still right.`,
        {
          path: real,
          by: verdict.by,
        },
      )
    }
  }
}
