import { AGENT_EVENTS, type AgentEvent } from '../agent/event.ts'
import type { ReportSeat } from '../agent/report-group.ts'
import type { NearLimit } from '../allowance/near.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { Message, MessageFilter } from '../message/message.ts'
import type { MergePolicy } from '../object/merge.ts'
import type { ObjectId, ObjectLinked, ObjectPut } from '../object/object.ts'
import type { View } from '../object/view.ts'
import type { ScriptSnapshot } from '../script/snapshot.ts'
import type { Pid } from './pid.ts'
import type {
  Actor,
  Evidence,
  Kind,
  Outcome,
  Owner,
  Program,
  Registration,
  Scope,
  StopHow,
} from './record.ts'
import type { StepEnded, StepTried } from './step-event.ts'
import type { WaitOn } from './wait.ts'
import type { WatchDisabled, WatchMatch } from './watch-event.ts'

export const WAIT_LEFT_HOW = ['signal', 'message', 'answered', 'due', 'ended', 'timed_out'] as const
export type WaitLeftHow = (typeof WAIT_LEFT_HOW)[number]

/** Reeve's own event types: the whole lifecycle. A process declares every other type. */
export type ReservedEvent =
  | { readonly type: 'registered'; readonly payload: Registration }
  | {
      readonly type: 'child_registered'
      readonly payload: {
        readonly pid: Pid
        readonly kind: Kind
        readonly label: string
        /** Of a workflow's child: which step spawned it. */
        readonly stepIndex?: number
        /** Of an agent's child: its place in a group that reports at once. */
        readonly seat?: ReportSeat
      }
    }
  /** It begins later. */
  | { readonly type: 'postponed'; readonly payload: { readonly until: number } }
  | { readonly type: 'started'; readonly payload: { readonly holder: string; readonly attempt: number } }
  | { readonly type: 'program_started'; readonly payload: Program }
  /** Its keeper died, and another one holds it now. */
  | { readonly type: 'taken_over'; readonly payload: { readonly from: string; readonly holder: string } }
  | {
      readonly type: 'holder_lost'
      readonly payload: { readonly holder: string; readonly evidence: Evidence; readonly retryAt: number }
    }
  | { readonly type: 'released'; readonly payload: { readonly holder: string } }
  /** It waits, and has left memory. `until`: when it goes on by itself. */
  | {
      readonly type: 'parked'
      readonly payload: {
        readonly holder: string
        readonly until: number | null
        /** Of a script. Without one it keeps the snapshot that it has. */
        readonly snapshot?: ScriptSnapshot
      }
    }
  /** `by` is parked, and waits for the end of this process. */
  | { readonly type: 'awaited'; readonly payload: { readonly by: Pid } }
  | { readonly type: 'step_ended'; readonly payload: StepEnded }
  | { readonly type: 'step_tried'; readonly payload: StepTried }
  | { readonly type: 'approval_requested'; readonly payload: ApprovalRequested }
  | { readonly type: 'approval_settled'; readonly payload: ApprovalSettled }
  | { readonly type: 'paused'; readonly payload: { readonly source: Actor } }
  | { readonly type: 'resumed'; readonly payload: { readonly source: Actor } }
  | {
      readonly type: 'stop_requested'
      readonly payload: {
        readonly how: StopHow
        readonly reason: string
        readonly source: Actor
        readonly cause: Pid | null
        readonly graceMs?: number
      }
    }
  /** Of an external process: the request reached it, as a signal or through a callback. */
  | { readonly type: 'stop_delivered'; readonly payload: StopDelivered }
  | {
      readonly type: 'wait_entered'
      readonly payload: {
        readonly on: WaitOn
        readonly name: string
        readonly ordinal: number
        readonly until: number | null
        readonly stepIndex?: number
        /** Of a wait on messages: which messages end it. */
        readonly filter?: MessageFilter
        /** Of an approval: an earlier holder asked for it, and the approver has that notice already. */
        readonly again?: true
      }
    }
  | {
      readonly type: 'wait_left'
      readonly payload: {
        readonly on: WaitOn
        readonly name: string
        readonly ordinal: number
        readonly how: WaitLeftHow
        readonly signalSeq: number | null
        /** The `message_received` that the wait took. */
        readonly messageSeq?: number
        readonly value: Json
        readonly stepIndex?: number
      }
    }
  | { readonly type: `signal.${string}`; readonly payload: { readonly id: string; readonly value: Json } }
  | { readonly type: 'message_received'; readonly payload: MessageReceived }
  | { readonly type: 'message_sent'; readonly payload: MessageSent }
  /** `sessionsAbove` is left out if the new session has no parent. */
  | {
      readonly type: 'reowned'
      readonly payload: { readonly owner: Owner; readonly sessionsAbove?: readonly string[] }
    }
  | { readonly type: 'cwd_changed'; readonly payload: { readonly cwd: string } }
  | {
      readonly type: 'abandon_requested'
      readonly payload: { readonly reason: string; readonly source: Actor }
    }
  | { readonly type: 'external_ref_set'; readonly payload: { readonly ref: Json } }
  | { readonly type: 'wake_target_cleared'; readonly payload: { readonly session: string } }
  | { readonly type: 'watch_matched'; readonly payload: WatchMatch }
  /** Too many matches, too often: this watch makes no more notices. */
  | { readonly type: 'watch_disabled'; readonly payload: WatchDisabled }
  | {
      readonly type: 'ready'
      readonly payload: {
        readonly by: ReadyBy
        readonly detail: string
        /** Of a port: whether the process itself listens there. Absent if that cannot be seen. */
        readonly own?: boolean
      }
    }
  | {
      readonly type: 'ready_timed_out'
      readonly payload: {
        readonly by: ReadyBy
        readonly detail: string
        readonly timeoutMs: number
        /** Why the last try failed. */
        readonly last?: string
      }
    }
  /** It has printed something since the last heartbeat. */
  | {
      readonly type: 'heartbeat'
      readonly payload: { readonly outputBytes: number; readonly newBytes: number }
    }
  /** A limit will soon be reached. */
  | { readonly type: 'limit_near'; readonly payload: NearLimit }
  /** An actor had its secrets shown, by this verb. */
  | { readonly type: 'revealed'; readonly payload: { readonly source: Actor; readonly verb: string } }
  /** A version of an object in its namespace. The event makes the version: its content is a blob. */
  | { readonly type: 'object_put'; readonly payload: ObjectPut }
  /** It wrote a version of an object of another process, through a handle. */
  | {
      readonly type: 'object_written'
      readonly payload: { readonly oid: ObjectId; readonly version: number; readonly hash: string }
    }
  /** It got a handle to an object. */
  | { readonly type: 'object_linked'; readonly payload: ObjectLinked }
  /** The name is gone from its view. */
  | {
      readonly type: 'object_released'
      readonly payload: { readonly name: string; readonly version: number }
    }
  /** The objects of an ended child were merged; each that was taken over is an `object_put` before. */
  | { readonly type: 'objects_merged'; readonly payload: ObjectsMerged }
  /** It sees other objects from now on. */
  | {
      readonly type: 'view_changed'
      readonly payload: { readonly view: View & { readonly since: number } }
    }
  | AgentEvent
  | { readonly type: 'ended'; readonly payload: Outcome }

/** A message to this process. */
export interface MessageReceived extends Message {
  /** A wait took it at once, so that it makes no notice. */
  readonly taken: boolean
}

/** A message of this process to a session or a person. */
export interface MessageSent extends Message {
  readonly to: Scope
}

interface ObjectsMerged {
  readonly from: Pid
  readonly policy: MergePolicy
  readonly merged: number
  readonly skipped: number
  readonly conflicts: number
}

/** It may begin only when this action is approved. */
export interface ApprovalRequested {
  readonly approval: string
  readonly actionHash: string
  readonly expiresAt: number | null
  /** It was approved, and the action has changed before it began. */
  readonly again?: true
}

export const APPROVAL_SETTLED_HOW = ['approved', 'answered', 'denied', 'expired'] as const
type ApprovalSettledHow = (typeof APPROVAL_SETTLED_HOW)[number]

export interface ApprovalSettled {
  readonly approval: string
  readonly how: ApprovalSettledHow
  /** The actor that answered; the kernel, if it expired. */
  readonly by: Actor
  /** The hash of the approved action, if the answer changed it. */
  readonly actionHash?: string
  /** The spec that the answer put in the place of the requested one. */
  readonly spec?: JsonObject
  /** For the asker, with a denial. */
  readonly advice?: string
}

export const READY_BY = ['log', 'port', 'http', 'command'] as const
export type ReadyBy = (typeof READY_BY)[number]

/** A stored fact about one process, in the past tense. */
export interface ProcessEvent {
  readonly pid: Pid
  /** Position among this process's events: from 1, without gaps. */
  readonly seq: number
  readonly type: string
  readonly at: number
  readonly actor: Actor
  /** Makes the event safe to repeat: the same key is the same event. */
  readonly replayKey: string | null
  readonly payload: Json
}

/** An event with its position over all processes. */
export interface StoredEvent extends ProcessEvent {
  readonly position: number
}

export const RESERVED_EVENTS: ReadonlySet<string> = new Set<ReservedEvent['type']>([
  'registered',
  'child_registered',
  'postponed',
  'started',
  'program_started',
  'taken_over',
  'holder_lost',
  'released',
  'parked',
  'awaited',
  'step_ended',
  'step_tried',
  'approval_requested',
  'approval_settled',
  'paused',
  'resumed',
  'stop_requested',
  'wait_entered',
  'wait_left',
  'message_received',
  'message_sent',
  'reowned',
  'cwd_changed',
  'abandon_requested',
  'external_ref_set',
  'stop_delivered',
  'wake_target_cleared',
  'watch_matched',
  'watch_disabled',
  'ready',
  'ready_timed_out',
  'heartbeat',
  'limit_near',
  'revealed',
  'object_put',
  'object_written',
  'object_linked',
  'object_released',
  'objects_merged',
  'view_changed',
  ...AGENT_EVENTS,
  'ended',
])

/** Reserved types are Reeve's own: no process declares or appends them. */
export function isReserved(type: string): boolean {
  return RESERVED_EVENTS.has(type) || type.startsWith('signal.')
}

/** An event of one of Reeve's own types: its `type` determines the type of its `payload`. */
export type KnownEvent<Event extends AnyEvent = StoredEvent> = ReservedEvent & Omit<Event, 'type' | 'payload'>

/** A stored event of this type. */
export type EventOf<Type extends ReservedEvent['type']> = Extract<KnownEvent, { readonly type: Type }>

/**
 * An event of a type that its process declared, or of a newer version of Reeve. TypeScript has no type for "any other text", so
 * `type` includes the known types as well: with `never` the payload adds nothing to theirs, and can be assigned to the type that
 * the process declared.
 */
interface OtherEvent extends Omit<StoredEvent, 'payload'> {
  readonly payload: never
}

/** A stored event as callers get it: a comparison of `type` with one of Reeve's own types tells what its `payload` is. */
export type TypedEvent = KnownEvent | OtherEvent

export function typedEvent(event: StoredEvent): TypedEvent {
  return event as TypedEvent
}

/** The event as a store has it: its payload is some JSON. */
export function untypedEvent(event: TypedEvent): StoredEvent {
  return event as StoredEvent
}

interface AnyEvent {
  readonly type: string
  readonly payload: unknown
}

/** The event with its payload typed; null if the process declared the type. */
export function knownEvent<Event extends AnyEvent>(event: Event): KnownEvent<Event> | null {
  const untyped: AnyEvent = event
  return isReserved(event.type) ? (untyped as KnownEvent<Event>) : null
}

export interface StopDelivered {
  readonly how: StopHow
  readonly by: 'signal' | 'callback'
}
