import { isInForegroundGroup } from '../../os/stat.ts'

/**
 * Whether this program's group is the foreground group of its terminal: a job in the background must leave the terminal
 * alone. True on a system that does not tell.
 */
export function isInForeground(): boolean {
  return isInForegroundGroup(process.pid) ?? true
}
