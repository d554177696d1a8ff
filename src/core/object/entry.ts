import { own } from '../json/json.ts'
import { knownEvent, type ProcessEvent } from '../process/event.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type ObjectLinked, type ObjectVersion, type ObjectWriter, partsOf } from './object.ts'

/** What a name of a namespace stands for, from one event on. */
export type ObjectEntry =
  | {
      readonly type: 'object'
      readonly pid: Pid
      readonly name: string
      readonly seq: number
      readonly at: number
      readonly version: ObjectVersion
      readonly writer: ObjectWriter
    }
  | {
      readonly type: 'link'
      readonly pid: Pid
      readonly name: string
      readonly seq: number
      readonly at: number
      readonly link: ObjectLinked
    }
  /** Released: the name is free. It hides the object of a base. */
  | {
      readonly type: 'released'
      readonly pid: Pid
      readonly name: string
      readonly seq: number
      readonly at: number
      /** The last version, so that a new one gets a higher number. */
      readonly version: number
    }

/** The row that a store keeps of an event, to find it by the name of the object. */
export interface ObjectRow {
  readonly pid: Pid
  readonly name: string
  readonly seq: number
  /** The process of the object that a live handle shows. */
  readonly target: Pid | null
}

/** The rows of new events of a process. */
export function objectRows(
  { eventTypes }: Pick<ProcessRecord, 'eventTypes'>,
  events: readonly ProcessEvent[],
): readonly ObjectRow[] {
  let rows: ObjectRow[] | undefined
  for (const event of events) {
    if (!event.type.startsWith('object_')) continue
    // A type that the process declared before it became one of Reeve's own.
    if (own(eventTypes, event.type) !== undefined) continue
    const entry = objectEntry(event)
    if (entry === null) continue
    const { pid, name, seq } = entry
    const isLive = entry.type === 'link' && entry.link.live
    rows ??= []
    rows.push({ pid, name, seq, target: isLive ? partsOf(entry.link.target.oid).pid : null })
  }
  return rows ?? NONE
}

export function objectEntry(event: ProcessEvent): ObjectEntry | null {
  const known = knownEvent(event)
  const { pid, seq, at } = event
  switch (known?.type) {
    case 'object_put': {
      const { by, from: _from, ...version } = known.payload
      const { name } = partsOf(version.oid)
      return { type: 'object', pid, name, seq, at, version, writer: by ?? { pid, seq } }
    }
    case 'object_linked':
      return { type: 'link', pid, name: known.payload.name, seq, at, link: known.payload }
    case 'object_released':
      return { type: 'released', pid, name: known.payload.name, seq, at, version: known.payload.version }
    default:
      return null
  }
}

const NONE: readonly never[] = []
