import { lstatSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ReeveError } from '../core/errors.ts'

/**
 * Throws if another user created this socket, or could have put it there: the server behind it receives commands and
 * environments, and its answers are printed. Returns true if the socket existed and was checked.
 */
export function refuseForeignSocket(socket: string): boolean {
  refuseForeignFolder(dirname(socket))
  const stat = lstatSync(socket, { throwIfNoEntry: false })
  if (stat === undefined) return false
  if (isForeign(stat)) throw foreign(socket, `The daemon's socket ${socket} belongs to another user`)
  return true
}

/** Throws if the daemon's home belongs to another user, or others may create files in it. A missing folder is accepted. */
export function refuseForeignFolder(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return
  const why = isForeign(stat) ? 'it belongs to another user' : writableBy(stat)
  // In a sticky folder like /tmp only its owner can replace a socket.
  if (why === null || (!isForeign(stat) && (stat.mode & 0o1000) !== 0)) return
  throw foreign(folder, `The daemon's home ${folder} cannot be used: ${why}`)
}

/** A file of root is not foreign, since root may do anything. To root, the files of a user are foreign. */
export function isForeign({ uid }: Stats): boolean {
  return process.getuid !== undefined && uid !== process.getuid() && uid !== 0
}

/** Why other users can write there, or null. */
export function writableBy({ mode }: Stats): string | null {
  if (process.getuid === undefined) return null
  if ((mode & 0o002) !== 0) return 'everybody may write there'
  return (mode & 0o020) === 0 ? null : 'its group may write there'
}

function foreign(path: string, message: string): ReeveError {
  return new ReeveError(
    'home_unusable',
    `${message}.`,
    'Run reeve as the user who started that daemon, run chmod 700 on your own home, or choose another with REEVE_HOME.',
    { details: { path } },
  )
}
