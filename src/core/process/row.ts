import type { Lease } from '../lease/lease.ts'
import type { Pid } from './pid.ts'
import type { ProcessRecord } from './record.ts'

/**
 * The row of a process in a store: the record, and beside it the lease (so that a claim makes no event) and the mark that
 * this process's stop or end, or the end of an agent's turn, must still be carried to its children or to hooks.
 */
export interface ProcessRow extends Lease {
  readonly record: ProcessRecord
  readonly carry: Carry | null
}

/**
 * `stop`: its whole tree is to be stopped. `end`: the children whose lifetime is their parent's. `calls`: what its closed tool calls
 * started is to be interrupted.
 */
export type CarryToChildren = 'stop' | 'end' | 'calls'

/**
 * What is still to be carried: to children, to hooks, or to both. `hooks:<turn>`: the hooks of ends are to be started, of the turns of an
 * agent from this one on and of the agent itself.
 */
export type Carry = CarryToChildren | `hooks:${number}` | `${CarryToChildren} hooks:${number}`

export function childCarryOf(carry: Carry | null): CarryToChildren | null {
  const [first = ''] = carry?.split(' ') ?? []
  return first === 'stop' || first === 'end' || first === 'calls' ? first : null
}

/** The first turn whose hooks are to be started; null if none are. */
export function hooksFromOf(carry: Carry | null): number | null {
  const turn = carry?.split('hooks:')[1]
  return turn === undefined ? null : Number(turn)
}

export function carryOf(children: CarryToChildren | null, hooksFrom: number | null): Carry | null {
  if (hooksFrom === null) return children
  return children === null ? `hooks:${hooksFrom}` : `${children} hooks:${hooksFrom}`
}

/** What remains of a pruned process for `TOMBSTONE_MS`: its pid is refused, and its fence never goes backwards. */
export interface Tombstone {
  readonly pid: Pid
  readonly fence: number
  readonly endedAt: number
  readonly prunedAt: number
}
