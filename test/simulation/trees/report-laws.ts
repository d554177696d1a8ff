import type { ProcessEvent } from '../../../src/core/process/event.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { Check, CommittedPlan, Ledger, ProcessChange } from '../ledger.ts'
import { same } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'
import { LAWS } from './laws.ts'

interface Child {
  readonly parent: Pid
  turn: number | null
  /** Whether its parent began the open turn, or took part in it. */
  isAsked: boolean
  readonly askers: Map<string, string>
}

interface Group {
  readonly parent: Pid
  readonly size: number
  readonly members: Pid[]
  readonly reported: Set<Pid>
  isTold: boolean
}

/** Which reports each commit has to tell a parent, from the logs of its children: who asked for a turn, how it ended, and what ended. */
export class ReportLaws implements Check {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #children = new Map<Pid, Child>()
  readonly #groups = new Map<string, Group>()
  readonly #told = new Set<string>()

  constructor(stage: Stage, ledger: Ledger) {
    this.#stage = stage
    this.#ledger = ledger
  }

  plan({ changes }: CommittedPlan): void {
    const due: string[] = []
    const told: string[] = []
    const ended = new Set<Pid>()
    for (const change of changes) {
      if (change.type !== 'process') continue
      const { pid, outcome } = change.row.record
      this.#noteMembers(change)
      for (const report of this.#dueIn(change)) {
        const parent = this.#children.get(pid)?.parent ?? ''
        const above = this.#ledger.processes.get(parent)?.record
        if (above?.agent != null && above.outcome === null && !ended.has(parent))
          due.push(`${parent} ${report}`)
      }
      if (outcome !== null) ended.add(pid)
      for (const event of change.events) {
        const notice = payloadOf(event, 'notice_buffered')
        if (notice === undefined) continue
        if (notice.notice.startsWith('report:')) {
          told.push(`${event.pid} ${notice.notice}`)
          this.#noteSeat(notice.notice.split(':')[1] ?? '', notice.seatOf)
        }
        if (notice.notice.startsWith('group:'))
          this.#noteGroup(notice.notice.slice('group:'.length), notice.parts[0])
      }
    }
    if (!same(due.toSorted(), told.toSorted()))
      this.#stage.violated(
        LAWS.reported,
        `reported are ${told.join(', ') || 'none'}, and should be ${due.join(', ') || 'none'}`,
      )
    for (const report of told) {
      if (this.#told.has(report)) this.#stage.violated(LAWS.reported, `${report} was told before`)
      this.#told.add(report)
    }
    for (const [id, { members, size, reported, isTold, parent }] of this.#groups)
      if (members.length === size && reported.size === size && !isTold && !ended.has(parent))
        this.#stage.violated(LAWS.groups, `all of group ${id} have reported, and ${parent} is not told`)
  }

  /** The reports that these events of a child are the reason of. */
  #dueIn({ was, row, events }: ProcessChange): string[] {
    const { pid, outcome } = row.record
    const due: string[] = []
    for (const event of events) {
      const registered = payloadOf(event, 'registered')
      // Of an agent that a program of a caller drives no turn is known.
      if (row.record.agent !== null && registered !== undefined && registered.parent !== null)
        this.#children.set(pid, { parent: registered.parent, turn: null, isAsked: false, askers: new Map() })
      const child = this.#children.get(pid)
      if (child === undefined) return []
      const report = this.#noteTurn(child, event)
      if (report !== null) due.push(`report:${pid}:${report}`)
    }
    const isEnd = outcome !== null && was?.record.outcome == null
    if (isEnd && due.length === 0 && this.#children.has(pid)) due.push(`report:${pid}:end`)
    return due
  }

  /** The number of the turn that ends, if it is reported. */
  #noteTurn(child: Child, event: ProcessEvent): number | null {
    const isParent = (actor: string | undefined) =>
      actor === `process:${child.parent}` || actor === `session:agent:${child.parent}`
    const admitted = payloadOf(event, 'input_admitted')
    if (admitted !== undefined) child.askers.set(admitted.input, admitted.asker)
    const begun = payloadOf(event, 'turn_begun')
    if (begun !== undefined) {
      child.turn = begun.turn
      child.isAsked = isParent(begun.asker)
    }
    const promoted = payloadOf(event, 'input_promoted')
    if (promoted !== undefined && child.turn !== null)
      child.isAsked ||= isParent(child.askers.get(promoted.input))
    if (event.type === 'resumed' && child.turn !== null) child.isAsked ||= isParent(event.actor)
    const ended = payloadOf(event, 'turn_ended')
    if (ended === undefined) return null
    const turn = child.isAsked && ended.goal !== 'go_on' ? child.turn : null
    child.turn = null
    child.isAsked = false
    return turn
  }

  #noteMembers({ events, row }: ProcessChange): void {
    for (const event of events) {
      const { pid, seat } = payloadOf(event, 'child_registered') ?? {}
      if (pid === undefined || seat === undefined) continue
      const { pid: parent } = row.record
      const known = this.#groups.get(seat.group)
      const group = known ?? { parent, size: seat.size, members: [], reported: new Set(), isTold: false }
      this.#groups.set(seat.group, group)
      group.members[seat.index] = pid
    }
  }

  /** The first report of a member waits for those of the others. */
  #noteSeat(child: Pid, seatOf: string | undefined): void {
    const [, group] = [...this.#groups].find(([, { members }]) => members.includes(child)) ?? []
    const isFirst = group !== undefined && !group.reported.has(child)
    if (isFirst !== (seatOf === child))
      this.#stage.violated(LAWS.groups, `${child} is reported ${isFirst ? 'alone' : 'in a group again'}`)
    group?.reported.add(child)
  }

  #noteGroup(id: string, head: unknown): void {
    const group = this.#groups.get(id)
    const { pids } = Object(head)
    if (group === undefined || group.isTold || group.reported.size < group.size)
      this.#stage.violated(
        LAWS.groups,
        `group ${id} is told with ${group?.reported.size} of ${group?.size} reports`,
      )
    if (!same(pids, group?.members ?? []))
      this.#stage.violated(LAWS.groups, `group ${id} is ${pids}, and should be ${group?.members}`)
    if (group !== undefined) group.isTold = true
  }
}
