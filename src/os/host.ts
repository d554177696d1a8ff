import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { readProc, whereReadable } from './proc-files.ts'

let known: string | undefined

/** Identifies this machine across boots: from its name and its machine id, which itself is not to be published. */
export function hostId(): string {
  known ??= createHash('sha256').update(`${hostname()}\n${machineId()}`).digest('hex').slice(0, 24)
  return known
}

/** Empty on systems and in containers without one. */
function machineId(): string {
  return whereReadable(() => readProc('/etc/machine-id'), null)?.trim() ?? ''
}
