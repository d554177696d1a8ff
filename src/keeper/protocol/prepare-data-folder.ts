import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { codeOf } from '../../base/error-text.ts'
import type { DataFolderPaths } from './data-folder-paths.ts'

export interface PreparedDataFolder {
  /** The id of the folder, for as long as it exists. */
  readonly id: string
  /** Ids of the folders whose state was restored into this one: their programs are not its own. */
  readonly restoredFrom: readonly string[]
  readonly token: string
}

/** Creates the missing parts of the data folder. Daemon and keeper may do so at the same time. */
export function prepareDataFolder(home: DataFolderPaths): PreparedDataFolder {
  for (const folder of [home.folder, home.live, home.fifos, home.output, home.cursors, home.keeper.folder])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  const identity = writtenOnce(home.identity, () => JSON.stringify({ id: newId() }))
  const token = writtenOnce(home.keeper.token, () => secret(32))
  return { ...identityIn(identity, home.identity), token: token.trim() }
}

/** Gives a folder that is about to be filled from backups of others an id of its own. */
export function identifyRestored(home: DataFolderPaths, restoredFrom: readonly string[]): void {
  mkdirSync(home.folder, { recursive: true, mode: 0o700 })
  writtenOnce(home.identity, () => JSON.stringify({ id: newId(), restoredFrom }))
}

/** The identity of an existing folder; null if it has none. */
export function readIdentity(home: DataFolderPaths): Pick<PreparedDataFolder, 'id' | 'restoredFrom'> | null {
  if (!existsSync(home.identity)) return null
  return identityIn(readFileSync(home.identity, 'utf8'), home.identity)
}

/** The text of a file that the first caller writes. It is linked into place, so that no reader sees half of it. */
function writtenOnce(path: string, text: () => string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const made = `${path}.${process.pid}.${secret(4)}`
  writeFileSync(made, text(), { mode: 0o600, flag: 'wx' })
  try {
    linkSync(made, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(made, { force: true })
  }
  return readFileSync(path, 'utf8')
}

function newId(): string {
  return `h_${secret(12)}`
}

function identityIn(text: string, path: string): Pick<PreparedDataFolder, 'id' | 'restoredFrom'> {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed === 'object' && parsed !== null && 'id' in parsed && typeof parsed.id === 'string') {
    const former = 'restoredFrom' in parsed && Array.isArray(parsed.restoredFrom) ? parsed.restoredFrom : []
    return { id: parsed.id, restoredFrom: former.map(String) }
  }
  throw new Error(`${path} has no id in it; if the folder is new, remove the file`)
}

function secret(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
