import { accessSync, constants, existsSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
import { isForeign, writableBy } from './ownership.ts'
import type { HomePaths } from './paths.ts'

/**
 * Creates the home folder, for its owner alone. A folder that cannot be used is refused before any file in it is opened. An
 * existing folder keeps its mode: it may have other uses too.
 */
export function prepareHome({ folder }: HomePaths): void {
  let stat: Stats
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    stat = statSync(folder)
  } catch (error) {
    throw unusable(folder, error)
  }
  // A user who can create files there can give themselves a token.
  const why = isForeign(stat) ? 'it belongs to another user' : writableBy(stat)
  if (why !== null) throw openTo(why, folder)
  if (isDataFolder(folder)) throw dataFolder(folder)
}

/** Creates the parents too. Not with `recursive`: below /proc, Node's own loop never ends. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error
    makeFolder(dirname(folder))
    // Another program may have created it meanwhile.
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  }
}

/** In a data folder an embedding program writes its own daemon.json, so a daemon could be neither found nor stopped. */
function isDataFolder(folder: string): boolean {
  return existsSync(join(folder, 'home.json')) && existsSync(join(folder, 'live'))
}

function dataFolder(folder: string): ReeveError {
  return new ReeveError(
    'home_unusable',
    `${folder} is the data folder of commands (commands.home of a program that embeds Reeve), not the home of a daemon.`,
    'Choose another folder with REEVE_HOME or --home; a daemon keeps its own data folder in its home, as commands.',
    { details: { home: folder } },
  )
}

function openTo(why: string, folder: string): ReeveError {
  return new ReeveError(
    'home_unusable',
    `The daemon's home ${folder} cannot be used: ${why}.`,
    `Run chmod 700 ${folder}, or choose another folder with REEVE_HOME or --home.`,
    { details: { home: folder } },
  )
}

function unusable(folder: string, error: unknown): ReeveError {
  const { code, message } = error as NodeJS.ErrnoException
  const why =
    code === 'EROFS'
      ? 'its file system is read-only'
      : code === 'EACCES' || code === 'EPERM'
        ? 'you may not write there'
        : code === 'ENOTDIR' || code === 'EEXIST'
          ? 'there is a file with its name'
          : message
  return new ReeveError(
    'home_unusable',
    `The daemon's home ${folder} cannot be used: ${why}.`,
    'Fix that, or choose another folder with REEVE_HOME or --home.',
    { cause: error, details: { home: folder } },
  )
}
