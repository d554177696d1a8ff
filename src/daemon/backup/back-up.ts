import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { codeOf, messageOf } from '../../base/error-text.ts'
import { ReeveError } from '../../core/errors.ts'
import type { HomePaths } from '../../home/paths.ts'
import { dataFolderAt } from '../../keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../../keeper/protocol/messages.ts'
import { readIdentity } from '../../keeper/protocol/prepare-data-folder.ts'
import { ownVersion } from '../../package/own-files.ts'
import { copySqlite } from '../../store/sqlite/copy.ts'
import { copyOutput, type OnCopied } from './copy-output.ts'
import { type BackedUpFile, describeFile, FORMAT, MANIFEST_NAME, type Manifest } from './manifest.ts'

/** The parts of a home in its backup. */
export const BACKUP_PATHS = { store: 'reeve.db', output: 'output', files: ['reeve.json', 'tokens.json'] }

export interface BackUpOptions {
  readonly home: HomePaths
  /** The setting `store`: a file, or a `postgres://` URL. */
  readonly store: string
  /** A folder that does not exist yet, or an empty one. */
  readonly into: string
  readonly now: number
  readonly onOutputCopied?: OnCopied
}

export interface BackUpReport {
  readonly folder: string
  readonly processes: number
  readonly files: number
  readonly bytes: number
}

/**
 * Copies a home while its daemon runs. The store is copied as a snapshot; output logs are copied after it, so that they contain at
 * least the bytes that the snapshot knows of. The folder gets its name when it is complete.
 */
export async function backUp(options: BackUpOptions): Promise<BackUpReport> {
  const { home, store, now } = options
  const into = resolve(options.into)
  if (/^postgres(ql)?:/.test(store)) throw notInAFile()
  if (!existsSync(store)) throw noStore(home.folder)
  refuseUsed(into)
  const draft = `${into}.${process.pid}.partial`
  makeFolder(draft)
  try {
    const { processes } = copySqlite(store, join(draft, BACKUP_PATHS.store))
    for (const name of BACKUP_PATHS.files) copyIfPresent(join(home.folder, name), join(draft, name))
    const data = dataFolderAt(home.commands, PROTOCOL)
    const identity = readIdentity(data)
    await copyOutput(data.output, join(draft, BACKUP_PATHS.output), options.onOutputCopied)
    const files: BackedUpFile[] = []
    for (const path of filesIn(draft)) files.push(await describeFile(draft, path))
    const manifest: Manifest = {
      format: FORMAT,
      version: ownVersion(),
      madeAt: now,
      home: home.folder,
      dataFolders: identity === null ? [] : [identity.id, ...identity.restoredFrom],
      processes,
      files,
    }
    writeFileSync(join(draft, MANIFEST_NAME), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    })
    renameSync(draft, into)
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    return { folder: into, processes, files: files.length, bytes }
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** Throws `folder_in_use` if there is something at the path that a backup or a restore would overwrite. */
function refuseUsed(folder: string): void {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw cannotWrite(folder, error)
  }
  if (names.length > 0)
    throw new ReeveError(
      'folder_in_use',
      `${folder} has files in it already, ${names[0]} for example.`,
      'Name a folder that does not exist yet. Nothing was changed.',
    )
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(dirname(folder), { recursive: true })
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    throw cannotWrite(folder, error)
  }
}

function copyIfPresent(from: string, to: string): void {
  if (!existsSync(from)) return
  copyFileSync(from, to)
  chmodSync(to, 0o600)
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

function notInAFile(): ReeveError {
  return new ReeveError(
    'backup_unsupported',
    'This home keeps its store in PostgreSQL, which reeve backup does not copy.',
    'Back up the database with pg_dump, and the output logs by copying the commands folder of the home.',
  )
}

function noStore(home: string): ReeveError {
  return new ReeveError(
    'home_unusable',
    `There is nothing to back up in ${home}: it has no store.`,
    'Name the home with --home or REEVE_HOME.',
    { details: { home } },
  )
}

function cannotWrite(folder: string, error: unknown): ReeveError {
  return new ReeveError(
    'folder_in_use',
    `${folder} cannot be made: ${messageOf(error)}.`,
    'Name another folder.',
    { cause: error },
  )
}
