import type { Ceiling } from '../capability/ceiling.ts'
import type { Json } from '../json/json.ts'
import type { Placement } from '../placement/placement.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor, Kind } from '../process/record.ts'
import type { EndStatus } from '../process/status.ts'
import type { OccurrenceRequest, Overlap, PausedDefinition } from '../schedule/schedule.ts'

/** Events of processes. Several values of one member are alternatives; all members must match. */
export interface EventSource {
  readonly type: 'event'
  /** Types of events, such as `ended`. */
  readonly on: readonly string[]
  /** Of events that end a process: how it ended. */
  readonly outcome?: readonly EndStatus[]
  readonly kind?: readonly Kind[]
  readonly name?: readonly string[]
  readonly label?: readonly string[]
  /** Processes of this session and of the sessions below it. */
  readonly session?: string
}

/** A set of files that changes. */
export interface FilesSource {
  readonly type: 'files'
  readonly folder: string
  /** Relative to the folder. */
  readonly glob: string
  /** How long the set must stay the same before the trigger starts. */
  readonly debounceMs: number
  /** The host that has the folder; null if hosts have no names. */
  readonly place: Placement | null
}

/** Requests to `/hooks/<id>`. */
export interface WebhookSource {
  readonly type: 'webhook'
  /** Members of the body, by path, and the values that they must have. */
  readonly filter: { readonly [path: string]: Json }
  readonly maxBytes: number
  readonly maxPerMinute: number
}

export type TriggerSource = EventSource | FilesSource | WebhookSource

/** The part of a trigger that its owner chooses. */
export interface TriggerDefinition {
  readonly source: TriggerSource
  readonly overlap: Overlap
  readonly pauseOnFailure: boolean
  /** The process of each occurrence. */
  readonly request: OccurrenceRequest
}

/** What the source has seen so far. */
export type SourceState =
  /** Events up to this position were decided on. */
  | { readonly type: 'event'; readonly position: number }
  /** `set`: null after a pause; the next look takes what it finds, and starts nothing. `changes`: how many were found. */
  | { readonly type: 'files'; readonly set: FileSet | null; readonly changes: number }
  /** The secret follows from the key of the trigger and this number. */
  | { readonly type: 'webhook'; readonly secretVersion: number }

export interface FileSet {
  /** Of all names and stamps. */
  readonly hash: string
  /** Paths relative to the folder, each with a text that changes with the file. */
  readonly files: { readonly [path: string]: string }
}

/** A stored definition of processes that start when something happens. It does not run itself. */
export interface Trigger extends TriggerDefinition {
  readonly id: string
  /** Random, so that the pids of its occurrences cannot be known in advance, and a later trigger of this name has others. */
  readonly key: string
  readonly revision: number
  /** The session that its occurrences belong to. */
  readonly session: string
  /** The actor whose rights its occurrences have: the one that chose their process, or an agent that edited the trigger since. */
  readonly createdBy: Actor
  /** The ceilings that this actor had then, and those of agents that edited the trigger since. */
  readonly ceilings: readonly Ceiling[]
  readonly createdAt: number
  readonly editedAt: number
  readonly paused: PausedDefinition | null
  readonly state: SourceState
  /** The number of the last delivery. */
  readonly deliveries: number
  /** Deliveries that have no process yet, the oldest first, by their pids. */
  readonly queue: readonly Pid[]
  /** The host has to look at the command of the first in the queue: a sweep registers it. */
  readonly isOpen: boolean
  /** Occurrences that are registered and have not ended, the oldest first. */
  readonly running: readonly { readonly pid: Pid; readonly at: number }[]
  readonly last: { readonly pid: Pid; readonly at: number; readonly status: EndStatus } | null
  readonly counts: TriggerCounts
}

export interface TriggerCounts {
  readonly started: number
  readonly filtered: number
  /** Deliveries that overlapped with an occurrence. */
  readonly skipped: number
  /** Repetitions of a delivery that was decided on before. */
  readonly duplicates: number
  readonly failed: number
}

export const NO_TRIGGER_COUNTS: TriggerCounts = {
  started: 0,
  filtered: 0,
  skipped: 0,
  duplicates: 0,
  failed: 0,
}

/** Occurrences of one trigger that run at once, with the overlap `allow`. */
export const MAX_RUNNING_OCCURRENCES = 100
/** Deliveries of one trigger that wait. A webhook that delivers more is asked to try again later, and events are read later. */
export const MAX_QUEUED_DELIVERIES = 1_000
/** Decided deliveries that are kept for each trigger. */
export const KEPT_DELIVERIES = 1_000
/** Triggers that follow from each other, before the chain is cut. */
export const MAX_CHAIN = 8

const SESSION_PREFIX = 'trigger:'

/** The session of the occurrences of a trigger. */
export function triggerSession(id: string): string {
  return `${SESSION_PREFIX}${id}`
}

/** The triggers whose sessions are among these. */
export function triggersOfSessions(sessions: readonly string[]): readonly string[] {
  return sessions.flatMap((session) =>
    session.startsWith(SESSION_PREFIX) ? [session.slice(SESSION_PREFIX.length)] : [],
  )
}

/** The trigger that a process says it is an occurrence of. Only the row of the trigger proves it. */
export function triggerNamedBy(causedBy: Readonly<Record<string, unknown>> | null): string | null {
  const named = causedBy?.['trigger']
  return typeof named === 'string' ? named : null
}

/** The triggers that led to a process, as its registration names them: the first one first. */
export function chainNamedBy(causedBy: Readonly<Record<string, unknown>> | null): readonly string[] {
  const chain = causedBy?.['chain']
  const above = Array.isArray(chain) ? chain.filter((id) => typeof id === 'string') : []
  const own = triggerNamedBy(causedBy)
  return own === null ? above : [...above, own]
}

/** The text that the pid of an occurrence follows from. An edit does not change it: a repeated delivery stays one. */
export function deliveryText({ key }: Pick<Trigger, 'key'>, delivery: string): string {
  return `trigger ${key} ${delivery}`
}

/** The text that the secret of a webhook follows from, with the secret of the store. */
export function webhookText({ key }: Pick<Trigger, 'key'>, secretVersion: number): string {
  return `webhook ${key} ${secretVersion}`
}
