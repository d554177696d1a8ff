import { basename } from 'node:path'
import type { Need } from '../../../core/capability/need.ts'
import type { MayRead } from '../../../core/capability/readable-below.ts'
import type { Refusal } from '../../../core/refusal.ts'
import { UnreadPaths } from './unread-paths.ts'
import { walk } from './walk.ts'
import { fileNeed, refuseOutside, resolveIn } from './workspace-path.ts'

interface FolderParts {
  /** The workspace: absolute and canonical. */
  readonly root: string
  readonly isNamed: (need: Need) => boolean | Promise<boolean>
  /** The refusal of the agent's rules. */
  readonly refuse: (need: Need) => Promise<Refusal | undefined>
  /** Which files below a folder may be read: `readable` of the agent's rules. */
  readonly readable: (folder: Need) => Promise<MayRead>
}

/** More are not listed. */
const MAX_FOUND = 1_000

/**
 * The files and folders of one folder whose paths begin like this, in the order of their names. Ignored ones are left out, those
 * that the agent may not read, and hidden ones unless their dot is typed. None if the rules of the agent refuse the folder; throws if it is outside of the workspace, or not there.
 */
export async function filesBeginning(
  { root, isNamed, refuse, readable }: FolderParts,
  begun: string,
): Promise<readonly { readonly path: string; readonly isFolder: boolean }[]> {
  const slash = begun.lastIndexOf('/')
  const [folder, name] = [begun.slice(0, slash + 1), begun.slice(slash + 1)]
  const path = await resolveIn(root, folder === '' ? '.' : folder)
  const need = fileNeed('read', root, path)
  await refuseOutside(path, need, isNamed)
  if ((await refuse(need)) !== undefined) return []
  // One folder: nothing to stop.
  const { signal } = new AbortController()
  const mayRead = await readable(need)
  const found: { readonly path: string; readonly isFolder: boolean }[] = []
  const options = { root, signal, maxDepth: 1, mayRead, unread: new UnreadPaths() }
  for await (const entry of walk(path, options)) {
    const own = basename(entry.path)
    if (!own.startsWith(name) || (name === '' && own.startsWith('.'))) continue
    found.push({ path: `${folder}${own}`, isFolder: entry.type === 'folder' })
    if (found.length === MAX_FOUND) break
  }
  return found
}
