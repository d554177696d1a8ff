import type { HolderRow } from '../core/lease/holder.ts'
import type { TrackedProcess } from '../core/process/tracked.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { withAncestors } from '../os/ancestors.ts'
import { bootId, pidNamespace } from '../os/boot.ts'
import { hostId } from '../os/host.ts'
import { whoIs } from '../os/identity.ts'
import { trackable, type Untrackable } from '../os/trackable.ts'

/** An OS process that may be tracked, and its name. */
export interface Identified {
  readonly tracked: TrackedProcess
  readonly name: string
}

/**
 * The identity of an OS process of this machine, if it may be tracked. `holders` are Reeve's own OS processes: kernels and
 * keepers on this store. They and their ancestors are never tracked.
 */
export function identify(osPid: number, holders: readonly HolderRow[]): Identified | Refusal {
  if (bootId() === '') return untrackable(osPid, 'no_proc')
  if (holders.some((holder) => isLiving(holder) && withAncestors(holder.osPid).has(osPid)))
    return untrackable(osPid, 'own')
  const found = trackable(osPid)
  if (typeof found === 'string') return untrackable(osPid, found)
  const { startTime, name } = found
  return {
    tracked: { osPid, startTime, boot: bootId(), host: hostId(), pidNamespace: pidNamespace() },
    name,
  }
}

/** The PID of a holder that died may belong to any process by now. */
function isLiving(holder: HolderRow): boolean {
  return holder.pidNamespace === pidNamespace() && whoIs(holder) === 'ours'
}

const REASONS: { readonly [why in Untrackable | 'no_proc']: string } = {
  gone: 'There is no living process with the PID',
  thread: 'A thread, not a process, has the number',
  kernel: 'The operating system itself has the PID',
  own: 'Reeve itself, or a process above it, has the PID',
  other_user: 'A process of another user has the PID',
  unreadable: 'The system hides the process with the PID',
  no_proc: 'This system does not tell start times, so nothing can verify the PID',
}

function untrackable(osPid: number, why: Untrackable | 'no_proc'): Refusal {
  return refusal(
    'not_trackable',
    `${REASONS[why]} ${osPid}: it cannot be tracked.`,
    'Give the PID of a running process of your own, on the machine of the daemon.',
    { osPid, why },
  )
}
