import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReeveError } from '../../core/errors.ts'
import type { HomePaths } from '../../home/paths.ts'
import { prepareHome } from '../../home/prepare.ts'
import { dataFolderAt } from '../../keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../../keeper/protocol/messages.ts'
import { identifyRestored } from '../../keeper/protocol/prepare-data-folder.ts'
import { checkCopy } from '../../store/sqlite/copy.ts'
import { BACKUP_PATHS } from './back-up.ts'
import { describeFile, type Manifest, readManifest, unusable } from './manifest.ts'

export interface RestoreOptions {
  readonly home: HomePaths
  /** A folder that `backUp` made. */
  readonly from: string
}

export interface RestoreReport {
  readonly home: string
  readonly madeFrom: string
  readonly madeAt: number
  readonly processes: number
}

/**
 * Fills a home that has no store yet. The store gets its name last, so that a restore that was interrupted can be repeated.
 */
export async function restore({ home, from }: RestoreOptions): Promise<RestoreReport> {
  const manifest = readManifest(from)
  refuseUsed(home)
  await checkFiles(from, manifest)
  prepareHome(home)
  const draft = `${home.store}.restoring`
  removeDraft(draft, home)
  try {
    copyFileSync(join(from, BACKUP_PATHS.store), draft)
    const { processes } = checkCopy(draft)
    for (const { path } of manifest.files) {
      const to = restoredPath(home, path)
      if (to === null) continue
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      copyFileSync(join(from, path), to)
    }
    identifyRestored(dataFolderAt(home.commands, PROTOCOL), manifest.dataFolders)
    renameSync(draft, home.store)
    return { home: home.folder, madeFrom: manifest.home, madeAt: manifest.madeAt, processes }
  } catch (error) {
    removeDraft(draft, home)
    throw error
  }
}

/** Reads every file of the backup before anything is written. */
async function checkFiles(from: string, { files }: Manifest): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    let found: { readonly bytes: number; readonly sha256: string }
    try {
      found = await describeFile(from, path)
    } catch (error) {
      throw unusable(from, `${path} cannot be read`, error)
    }
    if (found.bytes !== bytes || found.sha256 !== sha256)
      throw unusable(from, `${path} is not as it was when the backup was made`)
  }
}

/** Where a file of the backup goes; null for the store, which goes last, and for files of a newer Reeve. */
function restoredPath(home: HomePaths, path: string): string | null {
  if (BACKUP_PATHS.files.includes(path)) return join(home.folder, path)
  const [folder, ...rest] = path.split('/')
  if (folder !== BACKUP_PATHS.output || rest.length === 0) return null
  return join(dataFolderAt(home.commands, PROTOCOL).output, ...rest)
}

/** A home is in use once it has a store or a data folder that commands ran in. */
function refuseUsed({ folder, store, commands, daemon }: HomePaths): void {
  const used = [store, dataFolderAt(commands, PROTOCOL).identity, daemon].find((path) => existsSync(path))
  if (used === undefined) return
  throw new ReeveError(
    'folder_in_use',
    `${folder} is in use: there is ${used}.`,
    'Name a new home with --home or REEVE_HOME. Nothing was changed.',
    { details: { home: folder } },
  )
}

/** Also removes the files of an earlier attempt: a home without a store cannot have other files at these paths. */
function removeDraft(draft: string, { commands }: HomePaths): void {
  const { output, identity } = dataFolderAt(commands, PROTOCOL)
  for (const path of [draft, `${draft}-wal`, `${draft}-shm`, output, identity])
    rmSync(path, { recursive: true, force: true })
}
