import { closesCalls } from '../agent/closed-calls.ts'
import { owedFrom } from '../agent/owed-hooks.ts'
import { blobChanges } from '../blob/blobs-of.ts'
import type { Change } from '../change.ts'
import { type Group, isComplete, settleSeat, takeSeat } from '../group/group.ts'
import { noticesOf } from '../inbox/notice.ts'
import type { Lease } from '../lease/lease.ts'
import type { NewEvent } from './decision.ts'
import type { ProcessEvent, StoredEvent } from './event.ts'
import { evolve } from './evolve.ts'
import type { Pid } from './pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from './record.ts'
import {
  type Carry,
  type CarryToChildren,
  carryOf,
  childCarryOf,
  hooksFromOf,
  type ProcessRow,
} from './row.ts'

export interface Folding {
  readonly pid: Pid
  readonly was: ProcessRow | null
  readonly group: Group | null
  /** The parent, if its record decides about the notice of the end. */
  readonly parent?: ProcessRecord | null
  readonly events: readonly NewEvent[]
  readonly lease: Lease | undefined
  readonly actor: Actor
  readonly at: number
}

/** From decided events to changes: numbers them, folds them into the record, and adds everything that follows from them. */
export function fold(folding: Folding): { readonly row: ProcessRow; readonly changes: Change[] } {
  const { pid, was, actor, lease, parent = null } = folding
  // A clock that jumped back must not make a process end before it began.
  const at = Math.max(folding.at, was?.record.updatedAt ?? 0)
  const events: ProcessEvent[] = []
  const notices: Change[] = []
  let record: ProcessRecord | null = was?.record ?? null
  let group = folding.group
  for (const event of folding.events) {
    const seq: number = (record?.revision ?? 0) + 1
    const stored = {
      pid,
      seq,
      type: event.type,
      at,
      actor,
      replayKey: event.replayKey,
      payload: event.payload,
    }
    const before: ProcessRecord | null = record
    record = evolve(before, stored)
    events.push(stored)
    group = groupAfter(group, before, record)
    for (const notice of noticesOf(record, stored, { group, parent }))
      notices.push({ type: 'notice', notice })
  }
  if (record === null) throw new Error(`A fold of ${pid} without a record or an event`)
  const row: ProcessRow = {
    record,
    holder: lease === undefined ? (was?.holder ?? null) : lease.holder,
    fence: lease?.fence ?? was?.fence ?? 0,
    carry: carryAfter(was, record),
  }
  const blobs = blobChanges(events, replacedSnapshot(was?.record, record))
  const changed = { type: 'process', was, row, events } as const
  const changes: Change[] = [blobs === undefined ? changed : { ...changed, blobs }, ...notices]
  if (group !== null && group !== folding.group) {
    changes.push(
      isComplete(group) ? { type: 'group_gone', id: group.id } : { type: 'group', was: folding.group, group },
    )
  }
  return { row, changes }
}

function replacedSnapshot(before: ProcessRecord | undefined, record: ProcessRecord): string | undefined {
  const hash = before?.snapshot?.hash
  return hash === record.snapshot?.hash ? undefined : hash
}

/** The record, computed from the events alone: the stored record must always equal it. */
export function refold(events: readonly (ProcessEvent | StoredEvent)[]): ProcessRecord | null {
  return events.reduce<ProcessRecord | null>((record, event) => evolve(record, event), null)
}

function groupAfter(group: Group | null, before: ProcessRecord | null, record: ProcessRecord): Group | null {
  if (record.group === null) return null
  if (before === null) return takeSeat(group, record.group, record.pid)
  return group !== null && hasEnded(record) && !hasEnded(before) ? settleSeat(group, record) : group
}

function carryAfter(was: ProcessRow | null, record: ProcessRecord): Carry | null {
  const hooksFrom = hooksFromOf(was?.carry ?? null) ?? owedFrom(was?.record ?? null, record)
  return carryOf(childCarryAfter(was, record), hooksFrom)
}

function childCarryAfter(was: ProcessRow | null, record: ProcessRecord): CarryToChildren | null {
  if (record.children === 0) return null
  const before = was?.record ?? null
  const marked = childCarryOf(was?.carry ?? null)
  const stopAsked = record.stopRequest !== null && record.stopRequest.how !== 'interrupt'
  if (stopAsked && record.stopRequest !== before?.stopRequest) return 'stop'
  if (hasEnded(record) && before !== null && !hasEnded(before)) return marked === 'stop' ? 'stop' : 'end'
  return marked ?? (closesCalls(before?.agent ?? null, record.agent) ? 'calls' : null)
}
