import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Holder, HolderRow, Proof } from '../core/lease/holder.ts'

/** Who this kernel is: one incarnation in one OS process on one boot of one machine. */
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
    serves: [],
  }
}

/**
 * What the operating system says of a holder. A PID means something only on the same boot and in the same PID namespace;
 * elsewhere only time can tell.
 */
export function proveByPid(holder: HolderRow): Proof {
  const comparable =
    holder.boot !== '' &&
    holder.boot === bootId() &&
    holder.pidNamespace === pidNamespace() &&
    holder.startTime !== ''
  if (!comparable) return 'unknown'
  return startTimeOf(holder.osPid) === holder.startTime ? 'alive' : 'dead'
}

function bootId(): string {
  return readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
}

function pidNamespace(): string {
  return readOr(() => readlinkSync('/proc/self/ns/pid'))
}

/** Field 22 of `/proc/<pid>/stat`; the program's name before it may contain spaces and brackets. */
function startTimeOf(osPid: number): string | undefined {
  const stat = readOr(() => readFileSync(`/proc/${osPid}/stat`, 'utf8'))
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const isZombie = fields[0] === 'Z' || fields[0] === 'X'
  return isZombie ? undefined : fields[19]
}

/** Where there is no `/proc`, nothing is known, and nothing is claimed. */
function readOr(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
