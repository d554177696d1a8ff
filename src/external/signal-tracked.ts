import type { TrackedProcess } from '../core/process/tracked.ts'
import { bootId, pidNamespace } from '../os/boot.ts'
import { hostId } from '../os/host.ts'
import { whoIs } from '../os/identity.ts'
import { type SignalResult, signalVerified } from '../os/signal.ts'
import { statOf } from '../os/stat.ts'
import { trackable } from '../os/trackable.ts'

/**
 * Whether this kernel can tell what became of a tracked process. It is on this machine, and its PID means here what it
 * meant there: on another boot it is certainly gone, in another PID namespace nothing is known.
 */
export function isHere(tracked: TrackedProcess): boolean {
  if (tracked.host !== hostId()) return false
  return tracked.boot !== bootId() || tracked.pidNamespace === pidNamespace()
}

/** What is known of the OS process. A PID that was reused proves that the tracked process is gone. */
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

/** Why the OS process may not be signalled now, or null. What allowed tracking is verified again: its user may have changed. */
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
