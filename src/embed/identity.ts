import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Holder, HolderRow, Proof } from '../core/lease/holder.ts'
import { bootId, pidNamespace } from '../os/boot.ts'
import { startTimeOf, whoIs } from '../os/identity.ts'

/** The identity of this kernel: one incarnation in one OS process on one boot of one machine. */
export function ownIdentity(): Holder {
  const incarnation = randomBytes(8).toString('hex')
  return {
    id: `k_${incarnation}`,
    role: 'kernel',
    host: hostname(),
    boot: bootId(),
    pidNamespace: pidNamespace(),
    osPid: process.pid,
    startTime: startTimeOf(process.pid) ?? '',
    incarnation,
    since: Date.now(),
    serves: [],
  }
}

/**
 * Whether the OS process of a holder is alive. PIDs can be compared only on the same boot and in the same PID namespace;
 * otherwise the answer is `unknown`, and the holder counts as dead when its row expires.
 */
export function proveByPid(holder: HolderRow): Proof {
  const comparable =
    holder.boot !== '' &&
    holder.boot === bootId() &&
    holder.pidNamespace === pidNamespace() &&
    holder.startTime !== ''
  if (!comparable) return 'unknown'
  switch (whoIs(holder)) {
    case 'ours':
      return 'alive'
    case 'unreadable':
      return 'unknown'
    default:
      return 'dead'
  }
}
