import type { Pid } from '../process/pid.ts'
import type { AgentState, BufferedNotice, Part } from './state.ts'

/** The place of an agent in a group whose members report to their parent at once. */
export type ReportSeat = {
  /** The id of the group: the pid of its first member. */
  readonly group: string
  readonly size: number
  readonly index: number
}

/**
 * Agents that were spawned together, as their parent remembers them. The first report of each fills its seat: the result of a turn that the
 * parent asked for, or its end. The parent is told when all seats are filled. Each open seat has a live agent, so their number is bounded.
 */
export interface ReportGroup {
  readonly id: string
  readonly size: number
  /** In the order of the request. `seq`: the event of the parent that has the report; null before it. */
  readonly seats: readonly { readonly pid: Pid; readonly seq: number | null }[]
}

/** A member was registered. All members are registered in one transaction, in their order. */
export function afterChild(
  agent: AgentState | null,
  { pid, seat }: { readonly pid: Pid; readonly seat?: ReportSeat },
): AgentState | null {
  if (agent === null || seat === undefined) return agent
  const { group: id, size } = seat
  const others = (agent.groups ?? []).filter((group) => group.id !== id)
  const seats = agent.groups?.find((group) => group.id === id)?.seats ?? []
  return { ...agent, groups: [...others, { id, size, seats: [...seats, { pid, seq: null }] }] }
}

/** The group that waits for the first report of this agent. */
export function groupAwaiting({ groups = [] }: AgentState, child: Pid): ReportGroup | undefined {
  return groups.find(({ seats }) => seats.some(({ pid, seq }) => pid === child && seq === null))
}

export function withSeatFilled(agent: AgentState, child: Pid, seq: number): AgentState {
  const groups = (agent.groups ?? []).map((group) => {
    if (groupAwaiting({ ...agent, groups: [group] }, child) === undefined) return group
    return { ...group, seats: group.seats.map((seat) => (seat.pid === child ? { ...seat, seq } : seat)) }
  })
  return { ...agent, groups }
}

export function isComplete({ seats, size }: ReportGroup): boolean {
  return seats.length === size && seats.every(({ seq }) => seq !== null)
}

/** The reports of a complete group, in the order of its seats. */
export function reportsOf({ groups = [] }: AgentState, id: string): readonly BufferedNotice[] {
  const seats = groups.find((group) => group.id === id)?.seats ?? []
  return seats.flatMap(({ pid, seq }) =>
    seq === null ? [] : [{ id: `${id}:${pid}`, cause: 'child' as const, seq }],
  )
}

/** The state without the group, whose report has been told. */
export function withoutGroup(agent: AgentState, id: string): AgentState {
  const { groups = [], ...rest } = agent
  const open = groups.filter((group) => group.id !== id)
  return open.length === 0 ? rest : { ...rest, groups: open }
}

/** The head of the report of a group: the reports of its members follow it. */
export function groupHead({ id, seats }: ReportGroup): Part {
  const members = seats.map(({ pid }, index) => `${index + 1} ${pid}`).join(', ')
  const text = `Report of a group: all ${seats.length} agents that you started together have reported. In the order of their goals: ${members}.`
  return { type: 'group_report', text, group: id, pids: seats.map(({ pid }) => pid) }
}
