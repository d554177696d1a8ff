import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../../base/error-text.ts'
import type { Ruling } from '../../../core/capability/ruling.ts'
import type { FileWrite } from '../../../core/files/file-write.ts'
import type { KeptReason, LeftFile, PutBack } from '../../../core/files/plan-undo.ts'
import { ToolError } from '../agent-tool.ts'
import type { FileToolParts } from './file-tools.ts'
import { type FileContent, readContent } from './read-content.ts'
import { replaceFile, syncFolder } from './replace-file.ts'
import {
  checkUnchanged,
  fileNeed,
  resolveOutsideMemory,
  type WorkspacePath,
  writeNeed,
} from './workspace-path.ts'

export interface PutBackParts
  extends Pick<FileToolParts, 'root' | 'agent' | 'tracker' | 'isNamed' | 'ruling' | 'hasMemory'> {
  readonly blobs: {
    put(hash: string, bytes: Uint8Array): Promise<void>
    get(hash: string): Promise<Uint8Array | null>
  }
  /** Whether another agent alone may write the file. */
  readonly isHeld: (path: string) => Promise<boolean>
  /** A person asked for it: what the rules ask about is allowed. */
  readonly isPersons: boolean
}

/** Of errors of the path. */
const REASONS: { readonly [code: string]: KeptReason } = {
  outside_workspace: 'link',
  memory_tools_only: 'denied',
}

export type PutBackAnswer = { readonly type: 'put_back'; readonly write: FileWrite } | LeftFile

/**
 * Gives a file its earlier content, if it still has what the agent wrote last. Repeated after a crash it finds the file as it should be,
 * and says the same. `isDry`: looks, and changes nothing.
 */
export async function putBack(
  parts: PutBackParts,
  undo: PutBack,
  { isDry }: { readonly isDry: boolean },
): Promise<PutBackAnswer> {
  const left = (why: KeptReason): LeftFile => ({ type: 'left', path: undo.path, why })
  try {
    const path = await resolveOutsideMemory(parts, undo.path)
    // Recorded paths are canonical: another one has become a link.
    if (path.real !== undo.path) return left('link')
    return await parts.tracker.exclusively(path.real, async () => {
      const refused = await refuse(parts, path)
      if (refused !== null) return left(refused)
      const content = await readContent(path)
      const hash = content?.hash ?? null
      if (hash !== undo.from && hash !== undo.to) return left('changed_since')
      const bytes = undo.to === null ? null : await parts.blobs.get(undo.to)
      if (undo.to !== null && bytes === null) return left('not_kept')
      if (bytes !== null && (await isDenied(parts, writeNeed(parts.root, path, bytes.length))))
        return left('denied')
      if (isDry) return { type: 'put_back', write: { path: undo.path, before: undo.from, after: undo.to } }
      const kept = await keepNow(parts, undo, content)
      if (hash !== undo.to) await write(path, bytes, content)
      parts.tracker.putBack(parts.agent, path.real, undo.to)
      return { type: 'put_back', write: { path: undo.path, before: undo.from, after: undo.to, ...kept } }
    })
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    return left(REASONS[error.code] ?? 'failed')
  }
}

/** The content that is replaced is kept: so the undo can be undone. After a crash in between, it was kept before. */
async function keepNow(
  { blobs }: PutBackParts,
  { from }: PutBack,
  content: FileContent | null,
): Promise<{ readonly kept?: true }> {
  if (from === null) return {}
  const bytes = content?.hash === from ? content.bytes : await blobs.get(from)
  if (bytes === null) return {}
  await blobs.put(from, bytes)
  return { kept: true }
}

async function write(path: WorkspacePath, bytes: Uint8Array | null, content: FileContent | null) {
  if (bytes !== null) return replaceFile(path, bytes, content?.mode ?? null)
  await checkUnchanged(path)
  try {
    await rm(path.real)
  } catch (error) {
    throw new ToolError('io_error', `${path.shown} could not be removed: ${codeOf(error) ?? 'failed'}.`)
  }
  await syncFolder(dirname(path.real))
}

async function refuse(parts: PutBackParts, path: WorkspacePath): Promise<KeptReason | null> {
  const need = fileNeed('write', parts.root, path)
  if (!path.isInside && !(await parts.isNamed(need))) return 'denied'
  if (await isDenied(parts, need)) return 'denied'
  return (await parts.isHeld(path.real)) ? 'path_held' : null
}

async function isDenied(
  { ruling, isPersons }: PutBackParts,
  need: Parameters<FileToolParts['ruling']>[0],
): Promise<boolean> {
  const { type }: Ruling = await ruling(need)
  return type === 'deny' || (type === 'ask' && !isPersons)
}
