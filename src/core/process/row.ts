import type { Lease } from '../lease/lease.ts'
import type { Pid } from './pid.ts'
import type { ProcessRecord } from './record.ts'

/**
 * What a store keeps under a pid: the record, and beside it (so that a claim makes no event) the lease, and
 * whether this process's stop or end must still be carried to its children.
 */
export interface ProcessRow extends Lease {
  readonly record: ProcessRecord
  readonly carry: Carry | null
}

/** `stop`: its whole tree is to be stopped. `end`: the children that live only as long as it does. */
export type Carry = 'stop' | 'end'

/** What is left of a pruned process, for `TOMBSTONE_MS`: its pid is refused, and its fence never goes backwards. */
export interface Tombstone {
  readonly pid: Pid
  readonly fence: number
  readonly endedAt: number
  readonly prunedAt: number
}
