import { isInForegroundGroup } from '../../os/stat.ts'

/**
 * Whether this program is in the foreground group of its terminal. A background job must not use the terminal. True on a system
 * that does not say.
 */
export function isInForeground(): boolean {
  return isInForegroundGroup(process.pid) ?? true
}
