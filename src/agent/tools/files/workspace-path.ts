import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { codeOf } from '../../../base/error-text.ts'
import { pathOfFile } from '../../../core/capability/file-path.ts'
import type { Need } from '../../../core/capability/need.ts'
import type { MayRead } from '../../../core/capability/readable-below.ts'
import { isInMemory } from '../../../core/memory/memory-path.ts'
import { ToolError } from '../agent-tool.ts'

/** A path that a tool was given, after all symbolic links. */
export interface WorkspacePath {
  /** Absolute, without links. Its last parts may not exist yet. */
  readonly real: string
  /** For the model: relative to the workspace if it is inside. */
  readonly shown: string
  readonly isInside: boolean
}

/** The canonical form of a path that a model wrote. `root` is canonical, too. */
export async function resolveIn(root: string, given: string): Promise<WorkspacePath> {
  if (given.includes('\0')) throw new ToolError('invalid_input', 'A path has no zero byte.')
  await refuseVanished(root)
  const real = await canonical(resolve(root, given))
  const isInside = real === root || real.startsWith(root === sep ? root : `${root}${sep}`)
  return { real, isInside, shown: isInside ? relative(root, real) || '.' : real }
}

/** The canonical form of a path for a file tool. Throws for long-term memory, which has tools of its own. */
export async function resolveOutsideMemory(
  { root, hasMemory = false }: { readonly root: string; readonly hasMemory?: boolean },
  given: string,
): Promise<WorkspacePath> {
  const path = await resolveIn(root, given)
  if (!hasMemory || !isInMemory(relative(root, path.real))) return path
  throw new ToolError(
    'memory_tools_only',
    `${path.shown} belongs to long-term memory. Use memory_query, memory_read, memory_write, memory_edit or memory_delete.`,
    { path: path.real },
  )
}

/** What a walk of a file tool may see: no long-term memory. `readable`: what the rules let it see. */
export function withoutMemory(
  { root, hasMemory = false }: { readonly root: string; readonly hasMemory?: boolean },
  readable: MayRead,
): MayRead {
  if (!hasMemory) return readable
  return (path) => !isInMemory(relative(root, resolve(root, path))) && readable(path)
}

/** A write would make the folder of a workspace anew that was moved, deleted or unmounted. */
async function refuseVanished(root: string): Promise<void> {
  const found = await stat(root).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
    throw error
  })
  if (found?.isDirectory() === true) return
  throw new ToolError(
    'workspace_gone',
    `The workspace ${root} is not there any more. Tell the person, and stop.`,
  )
}

/** The need of a file tool, for the gate. */
export function fileNeed(right: 'read' | 'write', root: string, { real }: WorkspacePath): Need {
  const path = pathOfFile(real, { cwd: null, workspace: root })
  return { right, resource: { kind: 'fs', path, workspace: root }, attributes: {} }
}

/** The need of a write. `bytes`: the size of the file after it. */
export function writeNeed(root: string, path: WorkspacePath, bytes: number): Need {
  return { ...fileNeed('write', root, path), attributes: { bytes } }
}

/** Refuses a file outside of the workspace, unless a capability names it. */
export function refuseOutside(
  path: WorkspacePath,
  need: Need,
  isNamed: (need: Need) => boolean | Promise<boolean>,
): Promise<void> | void {
  if (path.isInside) return
  return Promise.resolve(isNamed(need)).then((named) => {
    if (named) return
    throw new ToolError(
      'outside_workspace',
      `${path.real} is outside of the workspace. Only a rule that allows ${need.right} fs:${path.real} opens it; ask the person for one.`,
      { path: path.real },
    )
  })
}

/** Throws if a link was put into the path since it was resolved. */
export async function checkUnchanged({ real, shown }: WorkspacePath): Promise<void> {
  if ((await canonical(real)) === real) return
  throw new ToolError('outside_workspace', `${shown} became a symbolic link meanwhile. Look at it again.`)
}

/** As many as Linux follows. */
const MAX_LINKS = 40

/** Follows links, also dangling ones: a write through one would create the file that it names. */
async function canonical(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (codeOf(error) === 'ELOOP' || links >= MAX_LINKS)
      throw new ToolError('invalid_input', `${path} is a chain of symbolic links without an end.`)
    if (codeOf(error) === 'ENOTDIR')
      throw new ToolError('not_a_folder', `A part of ${path} is a file, not a folder.`)
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const folder = dirname(path)
  if (folder === path) return path
  const found = await lstat(path).catch(() => undefined)
  if (found?.isSymbolicLink()) return canonical(resolve(folder, await readlink(path)), links + 1)
  return join(await canonical(folder, links), path.slice(folder.length).replace(/^\/+/, ''))
}
