import type { Pid } from '../process/pid.ts'
import type { GroupSeat, Outcome, ProcessRecord, Scope } from '../process/record.ts'

/** Processes whose ends make one notice, with each outcome in its seat. */
export interface Group {
  /** Its scope and its name: the key it is stored under. */
  readonly id: string
  readonly name: string
  readonly size: number
  readonly scope: Scope | null
  readonly seats: readonly (Seat | null)[]
}

interface Seat {
  readonly pid: Pid
  readonly outcome: Pick<Outcome, 'status' | 'exitCode' | 'reason' | 'result'> | null
}

/** The key of a group. A space ends the scope, so spaces within it are escaped: session ids may contain them. */
export function groupKeyOf({ id, scope }: Pick<GroupSeat, 'id' | 'scope'>): string {
  return `${(scope ?? '').replaceAll('%', '%25').replaceAll(' ', '%20')} ${id}`
}

export function takeSeat(group: Group | null, seat: GroupSeat, pid: Pid): Group {
  const known = group ?? {
    id: groupKeyOf(seat),
    name: seat.id,
    size: seat.size,
    scope: seat.scope,
    seats: Array.from({ length: seat.size }, () => null),
  }
  return { ...known, seats: known.seats.with(seat.index, { pid, outcome: null }) }
}

export function settleSeat(group: Group, record: ProcessRecord): Group {
  if (record.group === null || record.outcome === null) return group
  const { status, exitCode, reason, result } = record.outcome
  const seat = { pid: record.pid, outcome: { status, exitCode, reason, result } }
  return { ...group, seats: group.seats.with(record.group.index, seat) }
}

export function isComplete(group: Group): boolean {
  return group.seats.every((seat) => seat !== null && seat.outcome !== null)
}
