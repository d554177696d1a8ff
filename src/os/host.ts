import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { readProc, whereReadable } from './proc-files.ts'

let known: string | undefined

/** Identifies this machine across boots: a hash of its name and its machine id, which itself must not be published. */
export function hostId(): string {
  known ??= createHash('sha256').update(`${hostname()}\n${machineId()}`).digest('hex').slice(0, 24)
  return known
}

/** A short name for this machine that does not depend on its host name; null without a machine id. */
export function machineTag(): string | null {
  const id = machineId()
  return id === '' ? null : createHash('sha256').update(`machine ${id}`).digest('hex').slice(0, 8)
}

/** Without one, another machine of the same name has the same `hostId`. */
export function hasMachineId(): boolean {
  return machineId() !== ''
}

/** Empty on systems and in containers without one, and during a first boot. */
function machineId(): string {
  const id = whereReadable(() => readProc('/etc/machine-id'), null)?.trim() ?? ''
  return id === 'uninitialized' ? '' : id
}
