import { fstatSync, statSync } from 'node:fs'
import { isInForegroundGroup } from '../../os/stat.ts'

/** The part of `process.stdin` that says which file it is. */
interface StandardInput {
  readonly isTTY?: boolean
  readonly fd?: number
}

/**
 * Whether a command in the foreground gets the bytes of this program's standard input. Reading from the terminal would stop a
 * background job, even one whose program never reads. /dev/null has no bytes, so the command gets /dev/null itself.
 */
export function passesInput(stdin: StandardInput): boolean {
  return stdin.isTTY === true ? isInForeground() : !isNullDevice(stdin.fd)
}

/**
 * Whether this program is in the foreground group of its terminal. A background job must not use the terminal. True on a system
 * that does not say.
 */
export function isInForeground(): boolean {
  return isInForegroundGroup(process.pid) ?? true
}

function isNullDevice(fd: number | undefined): boolean {
  if (fd === undefined) return false
  const file = fstatSync(fd)
  return file.isCharacterDevice() && file.rdev === statSync('/dev/null').rdev
}
