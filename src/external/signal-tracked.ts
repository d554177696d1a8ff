import { type Machine, type TrackedProcess, whereIs } from '../core/process/tracked.ts'
import { bootId, pidNamespace } from '../os/boot.ts'
import { hasMachineId, hostId } from '../os/host.ts'
import { whoIs } from '../os/identity.ts'
import { type SignalResult, signalVerified } from '../os/signal.ts'
import { statOf } from '../os/stat.ts'
import { trackable } from '../os/trackable.ts'

/** The machine of this kernel. */
export function thisMachine(): Machine {
  return { host: hostId(), boot: bootId(), pidNamespace: pidNamespace(), hasMachineId: hasMachineId() }
}

/** Whether the PID is valid here: the process was tracked on this machine, in this boot and in this PID namespace. */
export function isHere(tracked: TrackedProcess): boolean {
  return whereIs(tracked, thisMachine(), []) === 'here'
}

/** Whether the process belongs to an earlier boot of this machine, unless a holder lives on that boot. */
export function mayBeOfEarlierBoot(tracked: TrackedProcess): boolean {
  return whereIs(tracked, thisMachine(), []) === 'earlier_boot'
}

/** The state of the OS process. A reused PID proves that the tracked process is gone. */
export function stateOf(tracked: TrackedProcess): 'running' | 'gone' | 'unknown' {
  if (!isHere(tracked)) return 'unknown'
  switch (whoIs(tracked)) {
    case 'ours':
      return 'running'
    case 'unreadable':
      return 'unknown'
    default:
      return 'gone'
  }
}

/** Why the OS process may not be signalled now, or null. The conditions of tracking are checked again: its user may have changed. */
export function whyNotSignalled(tracked: TrackedProcess): Exclude<SignalResult, 'sent'> | null {
  if (!isHere(tracked)) return 'unreadable'
  const who = whoIs(tracked)
  if (who !== 'ours') return who
  const found = trackable(tracked.osPid)
  if (typeof found !== 'string') return null
  return found === 'gone' ? 'gone' : 'forbidden'
}

export function signalTracked(tracked: TrackedProcess, signal: string): SignalResult {
  return whyNotSignalled(tracked) ?? signalVerified(tracked, signal)
}

/** A stopped process gets no signal but SIGKILL until it continues. */
export function isStopped({ osPid }: TrackedProcess): boolean {
  return statOf(osPid)?.state === 'T'
}
