import type { Group } from '../group/group.ts'
import { isComplete } from '../group/group.ts'
import { type Json, own } from '../json/json.ts'
import type { ProcessEvent } from '../process/event.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord, Scope } from '../process/record.ts'

/** One durable thing a scope is told, written with the event that caused it. Unique per scope and source event. */
export interface Notice {
  readonly scope: Scope
  readonly pid: Pid
  readonly seq: number
  readonly kind: 'completion' | 'group_completion' | 'wake'
  readonly at: number
  readonly payload: Json
  readonly replyTo: Json
}

/** What `event`, which led to `record`, says to whom. Pure, so that the outbox can be checked against the log. */
export function noticesOf(record: ProcessRecord, event: ProcessEvent, group: Group | null): Notice[] {
  const told = { pid: record.pid, seq: event.seq, at: event.at, replyTo: record.replyTo }
  if (record.outcome !== null && isEndOf(record, event)) {
    if (group !== null) {
      if (!isComplete(group) || group.scope === null) return []
      return [
        {
          ...told,
          scope: group.scope,
          kind: 'group_completion',
          payload: { group: group.name, seats: group.seats as unknown as Json },
        },
      ]
    }
    const scope = listenerOf(record)
    const { status, exitCode, reason } = record.outcome
    const payload = {
      label: record.identity.label,
      status,
      exitCode,
      reason,
      endedAt: record.outcome.endedAt,
    }
    return scope === null ? [] : [{ ...told, scope, kind: 'completion', payload }]
  }
  const wakes = own(record.eventTypes, event.type)?.wake === true && record.wakeTarget !== null
  if (!wakes) return []
  return [
    {
      ...told,
      scope: `session:${record.wakeTarget}`,
      kind: 'wake',
      payload: { type: event.type, value: event.payload },
    },
  ]
}

/** Who hears of the end: whoever it wakes, else the session it belongs to, else its parent. */
export function listenerOf(record: Pick<ProcessRecord, 'wakeTarget' | 'owner' | 'parent'>): Scope | null {
  const session = record.wakeTarget ?? record.owner.session
  if (session !== undefined) return `session:${session}`
  return record.parent === null ? null : `process:${record.parent}`
}

/** An end is always the last event. */
function isEndOf(record: ProcessRecord, event: ProcessEvent): boolean {
  return record.revision === event.seq
}
