import { whoIs } from '../../os/identity.ts'
import { isForbidden } from '../../os/proc-files.ts'
import { signalExact } from '../../os/signal.ts'
import type { ProgramIdentity } from '../protocol/program-state.ts'
import { markersSince, membersOf } from './members.ts'
import { ProcTable } from './proc-table.ts'

/**
 * Signals all members of a program's process group one by one, each by its own identity: a group's number alone proves nothing.
 * By the marker, the rest of the group is found even after its leader is gone.
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
  // A process of another user is skipped, as kill(2) does for a group, unless it is the only member.
  if (sent === 0 && forbidden !== undefined) throw forbidden
  return sent > 0 ? 'sent' : 'ended'
}
