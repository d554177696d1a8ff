import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ownCgroups } from '../../os/own-cgroups.ts'
import { isLeaf } from '../../os/program-marks.ts'

/**
 * Moves a process that this program has just started out of the cgroup of the command that this program belongs to, if any: so
 * the process does not end with that command. Where the system forbids the move, the process stays.
 */
export function moveOutOfLeaf(osPid: number): void {
  const { unified } = ownCgroups()
  if (unified === null || !isLeaf(unified)) return
  try {
    writeFileSync(join(dirname(dirname(unified)), 'cgroup.procs'), String(osPid))
  } catch {
    // Forbidden, or the process has ended already, which its parent notices.
  }
}
