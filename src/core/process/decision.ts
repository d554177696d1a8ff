import type { AgentAnswer } from '../agent/request.ts'
import type { Counted } from '../allowance/amounts.ts'
import type { FloodLimits, Overflow } from '../inbox/flood.ts'
import { type Json, sizeOf } from '../json/json.ts'
import { type Fence, holds, type Lease } from '../lease/lease.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Session } from '../session/session.ts'
import type { StoredEvent } from './event.ts'
import { hasEnded, type Outcome, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'

/** The facts that a decision needs. `replayed` is the event already stored under the intent's replay key. */
export interface Facts {
  readonly row: ProcessRow
  readonly replayed: StoredEvent | null
  /** The overflow state of the scope that gets a watch match. */
  readonly overflow?: Overflow
  /** An earlier holder has already asked for the approval that the process waits for. */
  readonly isAsked?: boolean
  /** The `seq` of the first message in its inbox that the wait takes. */
  readonly waitingMessage?: number | null
  readonly message?: MessageFacts
  /** A limit of the process for calls of models, of which nothing is left. */
  readonly usedUp?: Counted | null
  /** Of a change of the owner: the sessions above the new one. */
  readonly sessionsAbove?: readonly string[]
}

/** The facts of a message besides the row of the process whose event it becomes. */
export interface MessageFacts {
  /** The process that sends it; null for every other sender. */
  readonly sender: ProcessRecord | null
  /** The session that it is for. */
  readonly session: Session | null
  /** How many open messages the inbox has. */
  readonly open: number
}

/** Rules that are passed in because they need code from outside of `core`. Pure, like everything here. */
export interface Rules {
  /** Says how `payload` violates `schema`; undefined if it fits. */
  readonly validate: (schema: { readonly [key: string]: Json }, payload: Json) => string | undefined
  /** Masks the secrets of a text that a model will read: what is stored for a prompt never changes. */
  readonly mask: (text: string) => string
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
  /** These events happen together, and the lease becomes this one. */
  | {
      readonly type: 'append'
      readonly events: readonly NewEvent[]
      readonly lease?: Lease
      /** The new overflow state of that scope. */
      readonly overflow?: Overflow
      /** To a request to an agent. */
      readonly answer?: AgentAnswer
    }
  /** It happened before: this is the event. */
  | { readonly type: 'replay'; readonly event: StoredEvent }
  /** It is so already: nothing happens. */
  | { readonly type: 'keep' }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** A held process is written by its holder alone; an external one by any actor with the right. */
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

/** Refuses a value that is too large for an event. Large outputs belong in files. */
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
