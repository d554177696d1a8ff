import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { codeOf } from '../../../base/error-text.ts'
import type { Need } from '../../../core/capability/need.ts'
import { type MemoryFile, titleOf } from '../../../core/memory/memory-index.ts'
import {
  MAX_MEMORY_BYTES,
  MAX_MEMORY_DEPTH,
  MAX_MEMORY_FILE_BYTES,
  MAX_MEMORY_FILES,
  MEMORY_FOLDERS,
  memoryPathProblem,
  sameCaseKey,
} from '../../../core/memory/memory-path.ts'
import { ToolError } from '../agent-tool.ts'
import type { FileToolParts } from '../files/file-tools.ts'
import { decodeText, ioError, readContent } from '../files/read-content.ts'
import { fileNeed, resolveIn, type WorkspacePath } from '../files/workspace-path.ts'

/** Entries of the folders that are looked at: a person may have put anything there. */
const MAX_ENTRIES = 4 * MAX_MEMORY_FILES
/** The first line with text is in the beginning of a file. */
const TITLE_BYTES = 4 * 1024

/** The canonical path of a file of memory. Throws for every other path, and if a link is in it. */
export async function memoryPath(root: string, given: string): Promise<WorkspacePath> {
  const problem = memoryPathProblem(given)
  if (problem !== null)
    throw new ToolError(
      'invalid_input',
      `${JSON.stringify(given)} names no file of long-term memory: ${problem}.`,
    )
  const path = await resolveIn(root, given)
  if (path.real === join(root, given)) return path
  throw new ToolError(
    'outside_workspace',
    `${given} is behind a symbolic link. Files of long-term memory have none in their paths.`,
  )
}

/** The files of memory, by path. Links, hidden files and files of another type are left out. */
export async function listMemory(root: string): Promise<readonly MemoryFile[]> {
  const files: MemoryFile[] = []
  let entries = 0
  const pending = MEMORY_FOLDERS.map((folder) => ({ path: folder as string, depth: 1 })).toReversed()
  for (let next = pending.pop(); next !== undefined && entries < MAX_ENTRIES; next = pending.pop()) {
    const { path: folder, depth } = next
    for (const entry of await entriesOf(join(root, folder))) {
      entries += 1
      if (entries > MAX_ENTRIES || files.length === MAX_MEMORY_FILES) break
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory() && depth < MAX_MEMORY_DEPTH && !entry.name.startsWith('.'))
        pending.push({ path, depth: depth + 1 })
      else if (entry.isFile() && memoryPathProblem(path) === null) {
        const file = await fileAt(root, path)
        if (file !== null) files.push(file)
      }
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

interface ReadFolder {
  readonly folder: string
  readonly need: Need
}

/** The folders of memory, with the needs of a read of all of it. */
export function memoryFolders(root: string): readonly ReadFolder[] {
  return MEMORY_FOLDERS.map((folder) => ({
    folder,
    need: fileNeed('read', root, { real: join(root, folder), shown: folder, isInside: true }),
  }))
}

/** The files of memory that may be read by a call that may read these folders. */
export async function readableMemory(
  { root, readable }: Pick<FileToolParts, 'root' | 'readable'>,
  folders: readonly ReadFolder[] = memoryFolders(root),
): Promise<readonly MemoryFile[]> {
  const tests = await Promise.all(folders.map(async ({ need }) => readable(need)))
  const files = await listMemory(root)
  return files.filter(({ path }) =>
    folders.some(({ folder }, index) => path.startsWith(`${folder}/`) && tests[index]?.(path) === true),
  )
}

/** The texts of the files of memory, as many as fit; one that cannot be read has none. */
export async function memoryTexts(
  root: string,
  files: readonly MemoryFile[],
): Promise<readonly { readonly path: string; readonly text: string; readonly hash: string }[]> {
  const texts: { path: string; text: string; hash: string }[] = []
  let bytes = 0
  for (const { path } of files) {
    const content = await readContent({ real: join(root, path), shown: path, isInside: true }).catch(
      (error: unknown) => {
        if (error instanceof ToolError) return null
        throw error
      },
    )
    const text = content === null ? null : decodeText(content.bytes)
    if (content === null || text === null) continue
    bytes += content.bytes.length
    if (bytes > MAX_MEMORY_BYTES) break
    texts.push({ path, text, hash: content.hash })
  }
  return texts
}

/** Throws if a file of this size would be too large for memory, or one too many. */
export async function refuseBeyondBounds(
  root: string,
  files: readonly MemoryFile[],
  { path, bytes }: { readonly path: string; readonly bytes: number },
): Promise<void> {
  if (bytes > MAX_MEMORY_FILE_BYTES)
    throw new ToolError(
      'too_large',
      `${path} would have ${bytes} bytes; a file of long-term memory has at most ${MAX_MEMORY_FILE_BYTES}. Split it, or leave something out.`,
    )
  const others = files.filter((file) => file.path !== path)
  if (others.length >= MAX_MEMORY_FILES)
    throw new ToolError(
      'too_large',
      `Long-term memory has ${others.length} files, and no more than that. Delete or join some first.`,
    )
  const whole = others.reduce((sum, file) => sum + file.bytes, bytes)
  if (whole > MAX_MEMORY_BYTES)
    throw new ToolError(
      'too_large',
      `Long-term memory would have ${whole} bytes; at most ${MAX_MEMORY_BYTES} are kept. Delete something first.`,
    )
  await refuseOtherCase(root, path)
}

/** Some file systems would take two names for the same file: a write would replace another file than the one that was read. */
async function refuseOtherCase(root: string, path: string): Promise<void> {
  let folder = root
  for (const name of path.split('/')) {
    const other = (await entriesOf(folder)).find(
      (entry) => entry.name !== name && sameCaseKey(entry.name) === sameCaseKey(name),
    )
    if (other !== undefined)
      throw new ToolError(
        'invalid_input',
        `${relative(root, join(folder, other.name)).split(sep).join('/')} differs from ${path} in the case of its letters only. Use that name.`,
      )
    folder = join(folder, name)
  }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    // The folder itself must not be a link, also not one that was put there just now.
    if (!(await lstat(folder)).isDirectory()) return []
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw ioError(folder, error)
  }
}

async function fileAt(root: string, path: string): Promise<MemoryFile | null> {
  try {
    const real = join(root, path)
    await using file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TITLE_BYTES), 0, TITLE_BYTES, 0)
    return { path, bytes: size, title: titleOf(buffer.subarray(0, bytesRead).toString('utf8')) }
  } catch (error) {
    // It has gone meanwhile, or cannot be read.
    if (codeOf(error) === undefined) throw error
    return null
  }
}
