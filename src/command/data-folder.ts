import { existsSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
import type { DataFolderPaths } from '../keeper/protocol/data-folder-paths.ts'
import { type PreparedDataFolder, prepareDataFolder } from '../keeper/protocol/prepare-data-folder.ts'
import type { ProgramState } from '../keeper/protocol/program-state.ts'

/** Throws if the folder cannot be used, or has files of another program in it; then nothing is written to it. */
export function preparedDataFolder(home: DataFolderPaths): PreparedDataFolder {
  const { folder } = home
  try {
    const names = existsSync(folder) ? readdirSync(folder) : []
    const identity = basename(home.identity)
    // Unfinished files may be there already: another daemon is starting, or one was killed.
    const strange = names.find((name) => !OWN_FOLDERS.includes(name) && !name.startsWith(identity))
    if (strange !== undefined && !names.includes(identity))
      throw unusable(folder, `it has other files in it, ${strange} for one, and is no data folder`)
    return prepareDataFolder(home)
  } catch (error) {
    if (error instanceof ReeveError) throw error
    throw unusable(folder, messageOf(error), error)
  }
}

const OWN_FOLDERS = ['live', 'fifos', 'output', 'cursors', 'keeper']

function unusable(folder: string, why: string, cause?: unknown): ReeveError {
  return new ReeveError(
    'keeper_unavailable',
    `${folder} cannot be used as a data folder: ${why}.`,
    'Give commands.home a folder of its own that this user may write to: a new or empty one, or one that Reeve made.',
    { cause },
  )
}

export function needsLinux(): ReeveError {
  return new ReeveError(
    'keeper_unavailable',
    `Commands run on Linux only so far, and this is ${process.platform}.`,
    'On Windows use WSL; everything else works here, without the commands option.',
  )
}

export function wrongStore(home: DataFolderPaths, foreign: readonly ProgramState[]): ReeveError {
  const names = foreign.map((state) =>
    state.state === 'running' ? `${state.pid} (PID ${state.program.osPid})` : state.pid,
  )
  return new ReeveError(
    'wrong_store',
    `${home.folder} has commands that this store does not know: ${names.join(', ')}.`,
    'Open it with the store that it was used with, or give this store a folder of its own. If that store is gone for good, end what runs and remove the folder.',
    { details: { pids: foreign.map(({ pid }) => pid) } },
  )
}
