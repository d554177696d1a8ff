import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { HomePaths, RunningDaemon } from '../client/home.ts'
import { isForeign, writableBy } from '../client/home-owner.ts'
import { ReeveError } from '../core/errors.ts'

/**
 * Makes the folder, for its owner alone. One that cannot be used is said so before anything is opened in it. One that is
 * there keeps its rights: it may be a folder that has other uses too.
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
  // Whoever can put a file there can give themselves a token.
  const why = isForeign(stat) ? 'it belongs to another user' : writableBy(stat)
  if (why !== null) throw openTo(why, folder)
  if (isDataFolder(folder)) throw dataFolder(folder)
}

/** With its parents. Not by `recursive`: below /proc, Node's own loop never ends. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error
    makeFolder(dirname(folder))
    // Another program may have made it meanwhile.
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  }
}

/** A program that embeds Reeve writes a daemon.json of its own there: a daemon could be neither found nor stopped. */
function isDataFolder(folder: string): boolean {
  return existsSync(join(folder, 'home.json')) && existsSync(join(folder, 'live'))
}

function dataFolder(folder: string): ReeveError {
  return new ReeveError(
    'home_unusable',
    `${folder} is the data folder of commands (commands.home of a program that embeds Reeve), and no home of a daemon.`,
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
          ? 'there is a file in its place'
          : message
  return new ReeveError(
    'home_unusable',
    `The daemon's home ${folder} cannot be used: ${why}.`,
    'Mend that, or choose another folder with REEVE_HOME or --home.',
    { cause: error, details: { home: folder } },
  )
}

/** Which daemon says that it is here. It may be dead: only its PID together with its start time tells. */
export function announcedDaemon({ daemon }: HomePaths): RunningDaemon | null {
  try {
    return JSON.parse(readFileSync(daemon, 'utf8')) as RunningDaemon
  } catch {
    // Not there, or half of it: nobody is here.
    return null
  }
}

export function announce({ daemon }: HomePaths, running: RunningDaemon): void {
  writeWholeFile(daemon, `${JSON.stringify(running, null, 2)}\n`)
}

/** Changes this daemon's note, and no other's: when the home was moved, its path may be that of another daemon's home. */
export function announceAgain(paths: HomePaths, running: RunningDaemon): void {
  if (isOwnNote(paths)) announce(paths, running)
}

/** Takes this daemon's note away, and no other's: the next one may have written its own by now. */
export function withdraw(paths: HomePaths): void {
  if (isOwnNote(paths)) rmSync(paths.daemon, { force: true })
}

function isOwnNote(paths: HomePaths): boolean {
  return announcedDaemon(paths)?.osPid === process.pid
}

/** A reader sees the old text or the new one, never a part. For its owner alone. */
export function writeWholeFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  try {
    writeFileSync(draft, text, { mode: 0o600 })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
