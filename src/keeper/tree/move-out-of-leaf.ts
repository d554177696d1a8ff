import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isLeaf } from './cgroup-files.ts'
import { ownCgroups } from './own-cgroups.ts'

/**
 * Takes a process that this program has just started out of the command that this program is part of, if it is: so it is not
 * ended with that command. Where the system does not let it go it stays.
 */
export function moveOutOfLeaf(osPid: number): void {
  const { unified } = ownCgroups()
  if (unified === null || !isLeaf(unified)) return
  try {
    writeFileSync(join(dirname(dirname(unified)), 'cgroup.procs'), String(osPid))
  } catch {
    // No right to, or it has ended already, which whoever waits for it will notice.
  }
}
