import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { withAncestors } from './ancestors.ts'
import { readProc, whereReadable } from './proc-files.ts'
import { isOver, parseStat } from './stat.ts'

/** Why a PID may not be tracked, and so not be signalled. */
export type Untrackable = 'gone' | 'thread' | 'kernel' | 'own' | 'other_user' | 'unreadable'

/** An OS process that may be tracked, as it is now; or why it may not be. */
export type Trackable = { readonly startTime: string; readonly name: string } | Untrackable

/**
 * Whether Reeve may track an OS process: a living process of the user who runs this program, but neither this program nor
 * one of its ancestors. A thread id is refused, because a signal to it reaches the thread's whole process.
 */
export function trackable(osPid: number): Trackable {
  if (!Number.isSafeInteger(osPid) || osPid <= 1) return 'kernel'
  const status = whereReadable(() => readProc(`/proc/${osPid}/status`), null)
  const text = whereReadable(() => readProc(`/proc/${osPid}/stat`), null)
  if (text === null) return 'gone'
  if (status === null) return 'unreadable'
  const stat = parseStat(text)
  if (isOver(stat)) return 'gone'
  if (stat.group === 0) return 'kernel'
  if (!status.includes(`\nTgid:\t${osPid}\n`)) return 'thread'
  if (withAncestors().has(osPid)) return 'own'
  return hasOwnUser(status)
    ? { startTime: stat.startTime, name: programOf(osPid) ?? stat.name }
    : 'other_user'
}

/** The name of the program file: threads and titles give a process other names. The file may have been replaced since. */
function programOf(osPid: number): string | null {
  const path = whereReadable(() => readlinkSync(`/proc/${osPid}/exe`), null)
  return path === null ? null : basename(path.replace(/ \(deleted\)$/, ''))
}

/** Real, effective, saved and file system user: a setuid program is another user's in part. */
function hasOwnUser(status: string): boolean {
  const users = /^Uid:\s+(.+)$/m.exec(status)?.[1]?.split(/\s+/) ?? []
  return users.length === 4 && users.every((user) => Number(user) === process.getuid?.())
}
