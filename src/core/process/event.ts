import type { NearLimit } from '../allowance/near.ts'
import type { Json } from '../json/json.ts'
import type { Pid } from './pid.ts'
import type {
  Actor,
  Evidence,
  Kind,
  Outcome,
  Owner,
  Program,
  Registration,
  StopHow,
  WaitOn,
} from './record.ts'

export type WaitLeftHow = 'signal' | 'answered' | 'due' | 'ended' | 'timed_out'

/** The reserved types: the whole lifecycle. Everything else a process has to declare. */
export type ReservedEvent =
  | { readonly type: 'registered'; readonly payload: Registration }
  | {
      readonly type: 'child_registered'
      readonly payload: {
        readonly pid: Pid
        readonly kind: Kind
        readonly label: string
        /** Of a workflow's child: which step spawned it. */
        readonly place?: number
      }
    }
  /** It is to be begun later. */
  | { readonly type: 'postponed'; readonly payload: { readonly until: number } }
  | { readonly type: 'started'; readonly payload: { readonly holder: string; readonly attempt: number } }
  | { readonly type: 'program_started'; readonly payload: Program }
  /** Its keeper died; another one has it now. */
  | { readonly type: 'taken_over'; readonly payload: { readonly from: string; readonly holder: string } }
  | {
      readonly type: 'holder_lost'
      readonly payload: { readonly holder: string; readonly evidence: Evidence; readonly retryAt: number }
    }
  | { readonly type: 'released'; readonly payload: { readonly holder: string } }
  /** It waits, and has left memory. `until`: it comes back by itself then. */
  | {
      readonly type: 'parked'
      readonly payload: { readonly holder: string; readonly until: number | null }
    }
  /** `by` is parked, and waits for this one to end. */
  | { readonly type: 'awaited'; readonly payload: { readonly by: Pid } }
  | { readonly type: 'step_ended'; readonly payload: StepEnded }
  | { readonly type: 'step_tried'; readonly payload: StepTried }
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
        readonly place?: number
        /** Of an approval: an earlier holder asked for it, and whoever is asked was told so. */
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
        readonly value: Json
        readonly place?: number
      }
    }
  | { readonly type: `signal.${string}`; readonly payload: { readonly id: string; readonly value: Json } }
  | { readonly type: 'reowned'; readonly payload: { readonly owner: Owner } }
  | { readonly type: 'cwd_changed'; readonly payload: { readonly cwd: string } }
  | {
      readonly type: 'abandon_requested'
      readonly payload: { readonly reason: string; readonly source: Actor }
    }
  | { readonly type: 'external_ref_set'; readonly payload: { readonly ref: Json } }
  | { readonly type: 'wake_target_cleared'; readonly payload: { readonly session: string } }
  | { readonly type: 'watch_matched'; readonly payload: WatchMatch }
  /** Too much fitted, too often: nothing more is told of this watch. */
  | { readonly type: 'watch_disabled'; readonly payload: WatchDisabled }
  | {
      readonly type: 'ready'
      readonly payload: {
        readonly by: ReadyBy
        readonly detail: string
        /** Of a port: whether the process itself was seen to listen there. Absent where that cannot be seen. */
        readonly own?: boolean
      }
    }
  | {
      readonly type: 'ready_timed_out'
      readonly payload: {
        readonly by: ReadyBy
        readonly detail: string
        readonly timeoutMs: number
        /** How the last try failed. */
        readonly last?: string
      }
    }
  /** It has printed something since the last one. */
  | {
      readonly type: 'heartbeat'
      readonly payload: { readonly outputBytes: number; readonly newBytes: number }
    }
  /** So much of a limit is used that it will soon be reached. */
  | { readonly type: 'limit_near'; readonly payload: NearLimit }
  /** Somebody had the secrets in it shown, by this verb. */
  | { readonly type: 'revealed'; readonly payload: { readonly source: Actor; readonly verb: string } }
  | { readonly type: 'ended'; readonly payload: Outcome }

export type StepKind = 'step' | 'sleep' | 'signal' | 'spawn' | 'wait'

/** One step of a workflow is over, for good: it has a result, or was tried for the last time. */
export type StepEnded = {
  /** From 1, in the order the steps were begun. */
  readonly place: number
  readonly kind: StepKind
  readonly name: string
  readonly began: number
  readonly tries: number
} & (
  | {
      readonly how: 'done' /** Encoded (`core/value`). Absent where the step returned nothing. */
      readonly value?: Json
    }
  /** `thrown` is the encoded error (`core/value`), with name, code and cause. Absent in logs of earlier versions. */
  | { readonly how: 'failed'; readonly error: string; readonly thrown?: Json }
)

/** A step failed, and is tried again at a time. */
export interface StepTried {
  readonly place: number
  readonly kind: StepKind
  readonly name: string
  readonly tries: number
  readonly error: string
  readonly retryAt: number
}

export type ReadyBy = 'log' | 'port' | 'http' | 'command'

/** Lines that a watch was waiting for. */
export interface WatchMatch {
  readonly watch: string
  readonly wanted: string
  /** Of the first line that fits; where scanning goes on. */
  readonly offset: number
  readonly end: number
  readonly lines: readonly string[]
  /** Lines that fit beside those that are shown. */
  readonly more: number
  /** Lines that fitted since the last match was told, and were only counted. */
  readonly heldBack: number
  /** Output that was not kept long enough to be looked at. */
  readonly missed: { readonly from: number; readonly to: number } | null
  readonly strikes: number
  /** What the scope is told of it, where there is one: too many matches at once are held back. */
  readonly told: 'match' | 'tripped' | 'held'
}

export interface WatchDisabled {
  readonly watch: string
  readonly wanted: string
  readonly end: number
  readonly heldBack: number
}

/** A stored fact about one process, in the past tense. */
export interface ProcessEvent {
  readonly pid: Pid
  /** Place among this process's events: from 1, without gaps. */
  readonly seq: number
  readonly type: string
  readonly at: number
  readonly actor: Actor
  /** Makes the event safe to repeat: the same key is the same event. */
  readonly replayKey: string | null
  readonly payload: Json
}

/** An event with its place in the one order over all processes. */
export interface StoredEvent extends ProcessEvent {
  readonly position: number
}

const RESERVED: ReadonlySet<string> = new Set<ReservedEvent['type']>([
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
  'paused',
  'resumed',
  'stop_requested',
  'wait_entered',
  'wait_left',
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
  'ended',
])

/** Reserved types are Reeve's own: nobody declares or appends them. */
export function isReserved(type: string): boolean {
  return RESERVED.has(type) || type.startsWith('signal.')
}

export interface StopDelivered {
  readonly how: StopHow
  readonly by: 'signal' | 'callback'
}
