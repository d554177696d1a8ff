import { whoIs } from '../../os/identity.ts'
import { isForbidden } from '../../os/proc-files.ts'
import { signalExact } from '../../os/signal.ts'
import type { ProgramIdentity } from '../protocol/messages.ts'
import { markersSince, membersOf } from './members.ts'
import { ProcTable } from './proc-table.ts'

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
  // One that runs as another user is passed over, as the system does with a group; unless the group has no other member.
  if (sent === 0 && forbidden !== undefined) throw forbidden
  return sent > 0 ? 'sent' : 'ended'
}
