import type { ProgramIdentity } from '../protocol/messages.ts'
import { bootId } from './boot.ts'
import { markersSince, membersOf } from './members.ts'
import { ProcTable } from './proc-table.ts'
import { signalExact } from './signal-exact.ts'
import { isForbidden, isOver, type ProcStat, statOf } from './stat.ts'

export { bootId, pidNamespace } from './boot.ts'
export { signalExact } from './signal-exact.ts'
export { statOf } from './stat.ts'

/**
 * Who has a program's PID now. `gone`: nobody, or its zombie, or it was another boot. `unreadable`: its start time was
 * never known, or this system does not tell, so that nothing can be proved.
 */
export function whoIs(program: ProgramIdentity): 'ours' | 'gone' | 'stranger' | 'unreadable' {
  const boot = bootId()
  if (program.boot === '' || boot === '') return 'unreadable'
  if (program.boot !== boot) return 'gone'
  if (program.startTime === null) return 'unreadable'
  const stat = statIfReadable(program.osPid)
  if (stat === 'unreadable') return 'unreadable'
  if (stat === null) return 'gone'
  if (stat.startTime !== program.startTime) return 'stranger'
  return isOver(stat) ? 'gone' : 'ours'
}

/** Null when it is gone; a zombie still has one. */
export function startTimeOf(osPid: number): string | null {
  return statOf(osPid)?.startTime ?? null
}

/** Whether the OS process that started then on this boot still lives. Zombies do not. */
export function isAlive(osPid: number, startTime: string): boolean {
  const stat = statOf(osPid)
  return stat !== null && stat.startTime === startTime && !isOver(stat)
}

/** Whether anybody lives under this PID, known or not. */
export function hasSomebody(osPid: number): boolean {
  const stat = statIfReadable(osPid)
  return stat === 'unreadable' || (stat !== null && !isOver(stat))
}

/**
 * Signals all of a program's process group, one by one, each by its own identity: a group's number alone proves nothing.
 * With the marker, what is left of the group is found also when its leader is gone.
 */
export function signalGroup(
  program: ProgramIdentity,
  signal: string,
  marker: string | null = null,
): 'sent' | 'ended' | 'not_ours' {
  const who = whoIs(program)
  if (who === 'stranger' || who === 'unreadable') return 'not_ours'
  const table = ProcTable.read(marker === null ? Number.POSITIVE_INFINITY : markersSince(program))
  const group = membersOf(program, marker, { table }).filter(
    ({ osPid }) => table.processes.get(osPid)?.group === program.group,
  )
  let sent = 0
  let forbidden: unknown
  for (const { osPid, startTime } of group) {
    try {
      if (signalExact(osPid, startTime, signal)) sent++
    } catch (error) {
      if (!isForbidden(error)) throw error
      forbidden = error
    }
  }
  // One that runs as another user is passed over, as the system does with a group; but not if there is nobody else.
  if (sent === 0 && forbidden !== undefined) throw forbidden
  return sent > 0 ? 'sent' : 'ended'
}

/** Some systems hide the processes of other users, and so those that a program started as another. */
function statIfReadable(osPid: number): ProcStat | null | 'unreadable' {
  try {
    return statOf(osPid)
  } catch (error) {
    if (isForbidden(error)) return 'unreadable'
    throw error
  }
}
