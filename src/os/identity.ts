import { bootId } from './boot.ts'
import { isForbidden } from './proc-files.ts'
import { isOver, type ProcStat, statOf } from './stat.ts'

/** What identifies one OS process: its PID is reused, but not together with boot and start time. */
export interface OsIdentity {
  readonly osPid: number
  /** In clock ticks since boot. Null where it was never known: such a process is never signalled. */
  readonly startTime: string | null
  readonly boot: string
}

/**
 * Which OS process has a PID now. `gone`: none, a zombie, or the identity is of another boot. `unreadable`: the start time
 * was never known, or this system does not tell, so nothing can be verified.
 */
export function whoIs(identity: OsIdentity): 'ours' | 'gone' | 'stranger' | 'unreadable' {
  const boot = bootId()
  if (identity.boot === '' || boot === '') return 'unreadable'
  if (identity.boot !== boot) return 'gone'
  if (identity.startTime === null) return 'unreadable'
  const stat = statIfReadable(identity.osPid)
  if (stat === 'unreadable') return 'unreadable'
  if (stat === null) return 'gone'
  if (stat.startTime !== identity.startTime) return 'stranger'
  return isOver(stat) ? 'gone' : 'ours'
}

/** Null when the process is gone; a zombie still has a start time. */
export function startTimeOf(osPid: number): string | null {
  return statOf(osPid)?.startTime ?? null
}

/** Whether the OS process that started then on this boot still lives. A zombie does not. */
export function isAlive(osPid: number, startTime: string): boolean {
  const stat = statOf(osPid)
  return stat !== null && stat.startTime === startTime && !isOver(stat)
}

/** Whether any living OS process has this PID, known or not. A hidden one counts as living. */
export function isPidInUse(osPid: number): boolean {
  const stat = statIfReadable(osPid)
  return stat === 'unreadable' || (stat !== null && !isOver(stat))
}

/** Some systems hide the processes of other users. */
function statIfReadable(osPid: number): ProcStat | null | 'unreadable' {
  try {
    return statOf(osPid)
  } catch (error) {
    if (isForbidden(error)) return 'unreadable'
    throw error
  }
}
