// The folder in which Node caches Reeve's compiled code. Node executes that code, so the folder is used only if no other user can
// write to it or replace it. Only syntax and imports that an old Node knows, as in reeve.mjs.
import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** The folder of the compile cache, created if it is missing; null if it cannot be trusted or created. */
export function compileCacheFolder(env = process.env) {
  const given = env.XDG_CACHE_HOME
  const caches = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache')
  const folder = join(caches, 'reeve')
  // Windows has no file modes: a user's folders are private there.
  if (process.getuid === undefined) return folder
  try {
    mkdirSync(caches, { recursive: true, mode: 0o700 })
    const real = join(realpathSync(caches), 'reeve')
    if (!isSafeParent(dirname(real))) return null
    makeIfMissing(real)
    const { uid, mode } = lstatOfFolder(real)
    if (uid !== process.getuid() || isWritableByOthers(mode)) return null
    return (mode & 0o077) === 0 || closeToOthers(real) ? real : null
  } catch {
    // A read-only file system, a file in the way, or no permission: Reeve starts without a cache, only slower.
    return null
  }
}

/** True if only this user and root can rename entries of this folder, and of every folder above it. */
function isSafeParent(folder) {
  const { uid, mode } = statSync(folder)
  const isOurs = uid === process.getuid() || uid === 0
  const isSticky = (mode & 0o1000) !== 0
  if (!isOurs || (isWritableByOthers(mode) && !isSticky)) return false
  return dirname(folder) === folder || isSafeParent(dirname(folder))
}

function isWritableByOthers(mode) {
  return (mode & 0o022) !== 0
}

/** Closes a folder that others can read, as an earlier version made it. False if others can change a file in it. */
function closeToOthers(folder) {
  const isSafe = (name) => !isWritableByOthers(lstatSync(join(folder, name)).mode)
  if (!readdirSync(folder).every(isSafe)) return false
  // Node creates folders in it by the umask, which may let others write.
  chmodSync(folder, 0o700)
  return true
}

function makeIfMissing(folder) {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

function lstatOfFolder(path) {
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new Error(`${path} is not a folder`)
  return found
}
