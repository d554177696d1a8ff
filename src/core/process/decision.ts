import type { FloodLimits, Overflow } from '../inbox/flood.ts'
import type { Json } from '../json/json.ts'
import { sizeOf } from '../json/size.ts'
import { type Fence, holds, type Lease } from '../lease/lease.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { StoredEvent } from './event.ts'
import { hasEnded, type Outcome, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'

/** What the decision needs to know. `replayed` is the event already stored under the intent's replay key. */
export interface Facts {
  readonly row: ProcessRow
  readonly replayed: StoredEvent | null
  /** Of whoever is told of a watch match: how much that is already. */
  readonly overflow?: Overflow
  /** Of an approval that is waited for: somebody was told so already, when another holder waited for it. */
  readonly isAsked?: boolean
}

/** Judgements that are passed in because they need more than the facts. Pure, like everything here. */
export interface Rules {
  /** Says how `payload` misses `schema`, or nothing if it fits. */
  readonly validate: (schema: { readonly [key: string]: Json }, payload: Json) => string | undefined
  readonly maxPayloadBytes: number
  readonly maxPendingSignals: number
  readonly flood: FloodLimits
}

export interface NewEvent {
  readonly type: string
  readonly payload: Json
  readonly replayKey: string | null
}

export type Decision =
  /** These happen, together, and the lease becomes this one. */
  | {
      readonly type: 'append'
      readonly events: readonly NewEvent[]
      readonly lease?: Lease
      /** What the flood control of whoever is told becomes. */
      readonly overflow?: Overflow
    }
  /** It happened before: here is the event. */
  | { readonly type: 'replay'; readonly event: StoredEvent }
  /** It is so already; nothing needs to happen. */
  | { readonly type: 'keep' }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** Held processes are written by their holder alone; others by whoever has the right. */
export function needsFence(row: ProcessRow, fence: Fence | null): Refusal | undefined {
  if (fence !== null) return holds(row, fence) ? undefined : staleFence(row.record, fence)
  if (row.record.recovery === 'external') return undefined
  return refusal(
    'not_holding',
    `${row.record.pid} is ${row.holder === null ? 'not held by anyone' : `held by ${row.holder}`}, and only its holder may write this.`,
    'Ask it with a signal; ends and events from outside are for external processes.',
    { holder: row.holder },
  )
}

/** What is too large for an event. Outputs and artefacts have other places. */
export function refuseSize(what: string, value: Json, { maxPayloadBytes }: Rules): Refusal | undefined {
  const bytes = sizeOf(value)
  if (bytes <= maxPayloadBytes) return undefined
  return refusal(
    'payload_too_large',
    `${what} has ${bytes} bytes; at most ${maxPayloadBytes} are kept.`,
    'Put the bytes in a file and the path here.',
  )
}

export function whileLive(row: ProcessRow, then: () => Decision): Decision {
  return hasEnded(row.record) ? refuse(alreadyEnded(row.record)) : then()
}

export function append(
  ...events: readonly { type: string; payload: object; replayKey?: string | null }[]
): Decision {
  return { type: 'append', events: events.map(newEvent) }
}

export function newEvent(event: { type: string; payload: object; replayKey?: string | null }): NewEvent {
  return { type: event.type, payload: event.payload as Json, replayKey: event.replayKey ?? null }
}

export function ended(outcome: Outcome, replayKey: string): NewEvent {
  return newEvent({ type: 'ended', payload: outcome, replayKey })
}

export function refuse(no: Refusal): Decision {
  return { type: 'refuse', refusal: no }
}

export function alreadyEnded(record: ProcessRecord): Refusal {
  return refusal(
    'already_ended',
    `${record.pid} has ended (${record.status}).`,
    'Its outcome is final: read it, or start another process.',
    {
      outcome: record.outcome,
    },
  )
}

export function staleFence(record: ProcessRecord, fence: Fence): Refusal {
  return refusal(
    'stale_fence',
    `${fence.holder} no longer holds ${record.pid}: its fence ${fence.fence} is stale.`,
    'Stop working on it; another holder has it now.',
  )
}

export function replayConflict(record: ProcessRecord, key: string): Refusal {
  return refusal(
    'replay_conflict',
    `${record.pid} already has another event under the replay key ${JSON.stringify(key)}.`,
    'Repeat the first event exactly, or use a new key for a new event.',
  )
}
