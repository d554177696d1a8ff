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
      readonly payload: { readonly pid: Pid; readonly kind: Kind; readonly label: string }
    }
  | { readonly type: 'started'; readonly payload: { readonly holder: string; readonly attempt: number } }
  | { readonly type: 'program_started'; readonly payload: Program }
  /** Its keeper died; another one has it now. */
  | { readonly type: 'taken_over'; readonly payload: { readonly from: string; readonly holder: string } }
  | {
      readonly type: 'holder_lost'
      readonly payload: { readonly holder: string; readonly evidence: Evidence; readonly retryAt: number }
    }
  | { readonly type: 'released'; readonly payload: { readonly holder: string } }
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
  | {
      readonly type: 'wait_entered'
      readonly payload: {
        readonly on: WaitOn
        readonly name: string
        readonly ordinal: number
        readonly until: number | null
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
  /** Somebody had the secrets in it shown, by this verb. */
  | { readonly type: 'revealed'; readonly payload: { readonly source: Actor; readonly verb: string } }
  | { readonly type: 'ended'; readonly payload: Outcome }

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
  'started',
  'program_started',
  'taken_over',
  'holder_lost',
  'released',
  'paused',
  'resumed',
  'stop_requested',
  'wait_entered',
  'wait_left',
  'reowned',
  'cwd_changed',
  'abandon_requested',
  'external_ref_set',
  'wake_target_cleared',
  'revealed',
  'ended',
])

/** Reserved types are Reeve's own: nobody declares or appends them. */
export function isReserved(type: string): boolean {
  return RESERVED.has(type) || type.startsWith('signal.')
}
