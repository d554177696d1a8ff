import { rm } from 'node:fs/promises'
import type { MemoryChange } from '../../../core/memory/memory-change.ts'
import type { Pid } from '../../../core/process/pid.ts'
import { ToolError } from '../agent-tool.ts'
import type { FileToolParts } from '../files/file-tools.ts'
import { type FileContent, hashOf, ioError, readContent } from '../files/read-content.ts'
import { replaceFile } from '../files/replace-file.ts'
import { type WorkspacePath, writeNeed } from '../files/workspace-path.ts'
import { listMemory, memoryPath, refuseBeyondBounds } from './memory-folder.ts'
import { changingMemory } from './memory-lock.ts'

type Parts = Pick<FileToolParts, 'root' | 'ruling' | 'checkWrite'>

interface Planned {
  readonly path: WorkspacePath
  readonly before: FileContent | null
  readonly bytes: Buffer | null
}

/** Of a job: it runs after the turn, when no person waits for a question. */
export const NO_ONE_TO_ASK = 'A person would have to be asked for each write, and a job asks none.'

/** A file has changed since its content was read: the changes have to be made again. */
export class MemoryConflict extends Error {
  override readonly name = 'MemoryConflict'
}

/**
 * Applies all changes or none: each is checked before the first one is written, and what was written is put back if a later write fails. Called
 * again after a crash, it goes on where it was. Returns the paths that it changed. `job`: the process that must still run here.
 */
export function changeMemoryFiles(
  parts: Parts,
  job: Pid,
  changes: readonly MemoryChange[],
): Promise<readonly string[]> {
  return changingMemory(parts.root, async () => {
    const planned: Planned[] = []
    for (const change of changes) {
      const one = await plan(parts, job, change)
      if (one !== null) planned.push(one)
    }
    await refuseBounds(parts.root, planned)
    const written: Planned[] = []
    try {
      for (const one of planned) {
        await parts.checkWrite(one.path.real, job)
        await write(one.path, one.bytes, one.before?.mode ?? null)
        written.push(one)
      }
    } catch (error) {
      for (const { path, before } of written.toReversed())
        await write(path, before?.bytes ?? null, before?.mode ?? null).catch(() => undefined)
      throw error
    }
    return planned.map(({ path }) => path.shown)
  })
}

/** Null: the file is as the change wants it. */
async function plan(
  { root, ruling, checkWrite }: Parts,
  job: Pid,
  change: MemoryChange,
): Promise<Planned | null> {
  const path = await memoryPath(root, change.path)
  const before = await readContent(path)
  const bytes = change.text === null ? null : Buffer.from(change.text)
  if ((before?.hash ?? null) === (bytes === null ? null : hashOf(bytes))) return null
  if ((before?.hash ?? null) !== change.before)
    throw new MemoryConflict(`${path.shown} has changed since its content was read.`)
  const ruled = await ruling(writeNeed(root, path, bytes?.length ?? 0))
  if (ruled.type !== 'allow') {
    const why = ruled.type === 'deny' ? ruled.reason : NO_ONE_TO_ASK
    throw new ToolError('refused', `The rules of the agent do not allow a write of ${path.shown}. ${why}`)
  }
  await checkWrite(path.real, job)
  return { path, before, bytes }
}

async function refuseBounds(root: string, planned: readonly Planned[]): Promise<void> {
  let files = await listMemory(root)
  for (const { path, bytes } of planned) {
    files = files.filter((file) => file.path !== path.shown)
    if (bytes === null) continue
    await refuseBeyondBounds(root, files, { path: path.shown, bytes: bytes.length })
    files = [...files, { path: path.shown, bytes: bytes.length, title: '' }]
  }
}

async function write(path: WorkspacePath, bytes: Uint8Array | null, mode: number | null): Promise<void> {
  if (bytes !== null) return replaceFile(path, bytes, mode)
  await rm(path.real, { force: true }).catch((error: unknown) => {
    throw ioError(path.shown, error)
  })
}
