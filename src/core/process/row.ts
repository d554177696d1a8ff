import type { Lease } from '../lease/lease.ts'
import type { Pid } from './pid.ts'
import type { ProcessRecord } from './record.ts'

/**
 * The row of a process in a store: the record, and beside it the lease (so that a claim makes no event) and the mark that
 * this process's stop or end, or the end of an agent's turn, must still be carried to its children.
 */
export interface ProcessRow extends Lease {
  readonly record: ProcessRecord
  readonly carry: Carry | null
}

/**
 * `stop`: its whole tree is to be stopped. `end`: the children whose lifetime is their parent's. `calls`: what its closed tool calls
 * started is to be interrupted.
 */
export type Carry = 'stop' | 'end' | 'calls'

/** What remains of a pruned process for `TOMBSTONE_MS`: its pid is refused, and its fence never goes backwards. */
export interface Tombstone {
  readonly pid: Pid
  readonly fence: number
  readonly endedAt: number
  readonly prunedAt: number
}
