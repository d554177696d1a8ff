import type { Json } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { Carry, ProcessRow } from '../core/process/row.ts'
import { recordFrom } from './record-text.ts'

/** The columns of a process that both databases select. */
export interface ProcessColumns {
  readonly id: number
  readonly pid: Pid
  readonly fence: number
  readonly holder: string | null
  readonly carry: Carry | null
  readonly created_at: number
  readonly moving: string
  /** The payload of the event `registered`. */
  readonly payload: string
  /** The payload of its last event, if it has ended. */
  readonly ending: string | null
}

/** The columns of an event that both databases select. */
export interface EventColumns extends Omit<StoredEvent, 'payload' | 'replayKey' | 'actor'> {
  readonly actor: string
  readonly replay_key: string | null
  readonly payload: string
}

export function processRow({
  fence,
  holder,
  carry,
  created_at,
  moving,
  payload: registered,
  ending,
}: ProcessColumns): ProcessRow {
  return { record: recordFrom({ registered, moving, ending }, created_at), holder, fence, carry }
}

export function storedEvent(columns: EventColumns): StoredEvent {
  const { position, pid, seq, type, at, actor, replay_key, payload } = columns
  return {
    position,
    pid,
    seq,
    type,
    at,
    actor: actor as Actor,
    replayKey: replay_key,
    payload: JSON.parse(payload) as Json,
  }
}
