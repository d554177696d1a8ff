import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../../base/error-text.ts'
import type { MayRead } from '../../../core/capability/readable-below.ts'
import { ToolError } from '../agent-tool.ts'
import { IgnoredFiles } from './ignored-files.ts'
import { ioError } from './read-content.ts'
import type { UnreadPaths } from './unread-paths.ts'
import type { WorkspacePath } from './workspace-path.ts'

/** A walk that has seen this many entries ends, and says so. */
export const MAX_ENTRIES = 50_000

export interface WalkedEntry {
  /** Relative to the workspace, or absolute outside of it. */
  readonly path: string
  readonly real: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  /** 1 in the folder where the walk began. */
  readonly depth: number
}

export interface WalkOptions {
  readonly root: string
  readonly signal: AbortSignal
  readonly maxDepth?: number
  readonly includeIgnored?: boolean
  /** Whether an entry may be read, by its path. One that may not is left out, with everything below: not even its name is told. */
  readonly mayRead: MayRead
  /** Takes what could not be read, for the result. */
  readonly unread: UnreadPaths
}

/** The entries of a folder and of those below, in the order of their names. Links are named and not followed. */
export async function* walk(
  start: WorkspacePath,
  { root, signal, maxDepth = Number.POSITIVE_INFINITY, includeIgnored = false, mayRead, unread }: WalkOptions,
): AsyncGenerator<WalkedEntry, 'complete' | 'cut_off', void> {
  const usesRules = start.isInside && !includeIgnored
  const rules = usesRules ? await rulesAbove(root, start, unread) : undefined
  const pending = [{ path: start.shown === '.' ? '' : start.shown, real: start.real, rules, depth: 1 }]
  let seen = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    signal.throwIfAborted()
    const { path: folder, real, depth } = next
    const own = folder === '' || depth === 1 ? next.rules : await next.rules?.below(folder)
    const folders: typeof pending = []
    const entries = await entriesOf(real, depth === 1 ? start.shown : null, () => unread.skipped(folder))
    for (const entry of entries) {
      const path = folder === '' ? entry.name : join(folder, entry.name)
      const type = typeOf(entry)
      if (own?.ignores(path, type === 'folder') ?? entry.name === '.git') continue
      if (!mayRead(path)) continue
      seen += 1
      if (seen > MAX_ENTRIES) return 'cut_off'
      yield { path, real: join(real, entry.name), type, depth }
      if (type === 'folder' && depth < maxDepth)
        folders.push({ path, real: join(real, entry.name), rules: own, depth: depth + 1 })
    }
    pending.push(...folders.reverse())
  }
  return 'complete'
}

/** The rules of the workspace, and of each folder down to this one. */
async function rulesAbove(
  root: string,
  { shown }: WorkspacePath,
  unread: UnreadPaths,
): Promise<IgnoredFiles> {
  let rules = await IgnoredFiles.at(root, (path) => unread.rulesSkipped(path))
  const segments = shown === '.' ? [] : shown.split('/')
  for (const index of segments.keys()) rules = await rules.below(segments.slice(0, index + 1).join('/'))
  return rules
}

/** A folder further down that vanished or cannot be read is skipped. `asked`: the folder that was asked for. */
async function entriesOf(
  folder: string,
  asked: string | null,
  onUnreadable: () => void,
): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (asked === null) {
      if (codeOf(error) !== 'ENOENT') onUnreadable()
      return []
    }
    if (codeOf(error) === 'ENOENT') throw new ToolError('not_found', `There is no folder ${asked}.`)
    if (codeOf(error) === 'ENOTDIR')
      throw new ToolError('not_a_folder', `${asked} is a file. Read it instead.`)
    throw ioError(asked, error)
  }
}

function typeOf(entry: Dirent): WalkedEntry['type'] {
  if (entry.isDirectory()) return 'folder'
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
