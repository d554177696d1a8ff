import type { Lease } from '../lease/lease.ts'
import { type Decision, type NewEvent, newEvent } from '../process/decision.ts'
import { evolve } from '../process/evolve.ts'
import type { Actor, ProcessRecord } from '../process/record.ts'
import type { ProcessRow } from '../process/row.ts'
import type { AgentEvent } from './event.ts'
import type { AgentAnswer } from './request.ts'
import type { AgentState, ToolCallRef } from './state.ts'

/** The events of one decision, each decided on the record that the ones before it lead to. */
export class Draft {
  record: ProcessRecord
  lease: Lease
  readonly events: NewEvent[] = []
  readonly actor: Actor
  readonly at: number
  /** Open tool calls that are known not to have begun. */
  readonly neverBegan: readonly ToolCallRef[]

  constructor(
    row: Pick<ProcessRow, 'record' | 'holder' | 'fence'>,
    asked: { actor: Actor; at: number; neverBegan?: readonly ToolCallRef[] },
  ) {
    this.record = row.record
    this.lease = { holder: row.holder, fence: row.fence }
    this.actor = asked.actor
    this.at = asked.at
    this.neverBegan = asked.neverBegan ?? []
  }

  /** The state so far. Only for native agents. */
  get agent(): AgentState {
    if (this.record.agent === null) throw new Error(`${this.record.pid} is not a native agent`)
    return this.record.agent
  }

  add(event: AgentEvent, replayKey: string | null = null): void {
    this.addOther({ ...event, replayKey })
  }

  /** An event of every kind of process. */
  addOther(event: { type: string; payload: object; replayKey?: string | null }): void {
    this.push(newEvent(event))
  }

  /** An event that was decided before. */
  push(event: NewEvent): void {
    const { pid, revision } = this.record
    this.events.push(event)
    this.record = evolve(this.record, { pid, seq: revision + 1, at: this.at, actor: this.actor, ...event })
  }

  decision(answer?: AgentAnswer): Decision {
    return {
      type: 'append',
      events: this.events,
      lease: this.lease,
      ...(answer === undefined ? {} : { answer }),
    }
  }
}
