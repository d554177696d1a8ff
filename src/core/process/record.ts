import type { Amounts } from '../allowance/amounts.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { Placement } from '../placement/placement.ts'
import type { Pid } from './pid.ts'
import type { EndStatus, PausedFrom, Status } from './status.ts'

export type Kind = 'command' | 'agent' | 'workflow' | 'tool' | 'external'

export type Lifetime = 'turn' | 'session' | 'parent' | 'daemon' | 'detached'

/** What may follow a lost holder: run again, never run again, or nothing that a kernel does. */
export type Recovery = 'rerunnable' | 'bound' | 'external'

export const OWNER_SELECTORS = [
  'session',
  'turn',
  'toolCall',
  'terminal',
  'extension',
  'hook',
  'sandbox',
  'source',
] as const
/** The scope a process belongs to; lists and interrupts select by it. */
export type Owner = { readonly [selector in (typeof OWNER_SELECTORS)[number]]?: string }

/** Who asks. `host` is the embedding program or the operator, and `kernel` acts on its own behalf (recovery, lifetimes). */
export type Actor = 'host' | `session:${string}` | `process:${Pid}` | `kernel:${string}`

/** Whom a notice is addressed to. */
export type Scope = `session:${string}` | `process:${Pid}` | `human:${string}`

/** An event type that a process declares for itself. */
export interface EventType {
  /** JSON Schema of the payload. */
  readonly schema: JsonObject
  /** An event of this type ends the process, with its payload as the result. */
  readonly end?: 'completed' | 'failed' | 'cancelled'
  /** An event of this type is a notice to the process's wake target, and may start a turn there. */
  readonly wake?: boolean
  /** The payload becomes the facet of this name. */
  readonly facet?: string
}

export interface Limits {
  /** How often it may be begun, the first time included, when its holders die. */
  readonly attempts: number
  /** How deep the tree may grow, counted from the root; children inherit it. */
  readonly depth: number
  /** How many of its children may live at once, each of them with as many; children inherit this and the ceilings below. */
  readonly liveChildren?: number
  /** How long a command may run. */
  readonly runMs?: number
  /** How much memory a command and all it started may use. */
  readonly memoryBytes?: number
  /** What it was given when it was registered. What is left of it is in its account. */
  readonly allowance?: Amounts
}

export interface GroupSeat {
  readonly id: string
  /** Who hears of it. Groups of different scopes are different groups, whatever their ids. */
  readonly scope: Scope | null
  readonly index: number
  readonly size: number
}

export const WAITS = ['child', 'signal', 'message', 'approval', 'timer', 'input'] as const
export type WaitOn = (typeof WAITS)[number]

/** What a waiting process waits for. `ordinal` counts its waits on that name, from 1. */
export interface Wait {
  readonly on: WaitOn
  readonly name: string
  readonly ordinal: number
  readonly since: number
  readonly until: number | null
  /** Of a workflow: its place among the steps. */
  readonly place?: number
}

/** How far a workflow has come. Its steps are events; the record only counts. */
interface Journal {
  /** The last place that has a step on record. */
  readonly last: number
  /** How many attempts there had been before the one that took it: what fails without progress is given up, not what lives long. */
  readonly attempts: number
}

export const EVIDENCES = [
  'keeper_lost',
  'holder_dead',
  'holder_drain',
  'requested',
  'identity_mismatch',
  /** Its OS process was seen to be gone, and Reeve was not its parent: how it ended is not known. */
  'process_gone',
  'not_seen_to_stop',
] as const
/** Why an end that was not seen is believed. `not_seen_to_stop`: its code was asked to stop, and ignores that. */
export type Evidence = (typeof EVIDENCES)[number]

export interface Outcome {
  readonly status: EndStatus
  readonly exitCode: number | null
  readonly signal: string | null
  readonly reason: string | null
  /** Who asked for the end, where somebody did. */
  readonly source: Actor | null
  readonly result: Json
  readonly evidence: Evidence | null
  readonly startedAt: number | null
  readonly endedAt: number
}

/** What is told of a watch so far. Scanning goes on behind `scannedTo`, whoever scans: nothing is told twice. */
export interface WatchState {
  readonly scannedTo: number
  readonly toldAt: number | null
  /** Windows in a row in which something was held back. */
  readonly strikes: number
  readonly disabled: boolean
}

/** Whether it is what it is to be when it is ready, where its spec says what that is. */
interface Readiness {
  readonly at: number
  readonly ready: boolean
}

export const STOPS = ['interrupt', 'cancel', 'kill'] as const
/** How hard a stop was asked for, weakest first. */
export type StopHow = (typeof STOPS)[number]

/** The OS process behind a command, as its keeper saw it. A PID without start time is never signalled. */
export interface Program {
  readonly osPid: number
  readonly startTime: string | null
  readonly boot: string
  readonly group: number
  /** How its whole tree is found: by a cgroup of its own, or by a marker in the inherited environment. */
  readonly tree: 'cgroup' | 'marker'
  /** How a memory limit is kept, where there is one. */
  readonly memoryBy: 'cgroup' | 'sampled' | null
}

interface StopRequest {
  readonly how: StopHow
  readonly reason: string
  readonly source: Actor
  /** The process whose stop led to this one. */
  readonly cause: Pid | null
  /** How long it may take before it is forced, where whoever asked said so. */
  readonly graceMs?: number
  readonly at: number
  /** Of an external process: when the request reached it. Absent until then, so that a restart sends it again. */
  readonly deliveredAt?: number
}

/** Named signals of one name: those not yet taken wait in the order they came. */
export interface SignalQueue {
  readonly received: number
  readonly taken: number
  /** `seq` of each signal that no wait has taken. */
  readonly pending: readonly number[]
}

/** A registration with every default filled in: what `registered` says, and the record begins as. */
export interface Registration {
  readonly pid: Pid
  readonly name: string | null
  readonly kind: Kind
  readonly spec: JsonObject
  readonly label: string
  readonly definition: Json
  readonly parent: Pid | null
  readonly root: Pid
  readonly depth: number
  readonly restartOf: Pid | null
  readonly group: GroupSeat | null
  readonly owner: Owner
  readonly originator: Actor
  readonly causedBy: JsonObject | null
  readonly replyTo: Json
  readonly lifetime: Lifetime
  readonly recovery: Recovery
  /** Where it is executed; null: anywhere that serves it. */
  readonly placement: Placement | null
  readonly envRef: string | null
  readonly cwd: string | null
  readonly eventTypes: { readonly [type: string]: EventType }
  readonly registrationHash: string
  readonly wakeTarget: string | null
  readonly limits: Limits
}

/** The fold of a process's events, and nothing else. Times are milliseconds since 1970. */
export interface ProcessRecord extends Omit<Registration, 'label' | 'definition'> {
  readonly identity: { readonly label: string; readonly definition: Json }
  readonly status: Status
  readonly pausedFrom: PausedFrom | null
  readonly stopRequest: StopRequest | null
  readonly wait: Wait | null
  /** What a workflow waits for at the same time, in the order it began to. */
  readonly moreWaits: readonly Wait[]
  /** It waits, and nobody has it in memory: what it waits for makes it ready. */
  readonly parked: boolean
  /** Parked processes that wait for the end of this one. */
  readonly awaitedBy: readonly Pid[]
  readonly journal: Journal | null
  readonly signals: { readonly [name: string]: SignalQueue }
  /** How many children were ever registered under it. */
  readonly children: number
  readonly attempts: number
  /** Not to be begun again before then: the backoff after a lost holder. */
  readonly retryAt: number | null
  readonly firstStarted: { readonly at: number; readonly holder: string } | null
  readonly program: Program | null
  /** By name; those that have told something. */
  readonly watches: { readonly [watch: string]: WatchState }
  readonly readiness: Readiness | null
  readonly abandonRequest: { readonly reason: string; readonly source: Actor; readonly at: number } | null
  readonly externalRef: Json
  readonly outcome: Outcome | null
  readonly facets: { readonly [facet: string]: Json }
  /** `seq` of the last event folded in. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

export function hasEnded(record: ProcessRecord): boolean {
  return record.outcome !== null
}

/** Everything it waits for now. */
export function waitsOf({ wait, moreWaits }: ProcessRecord): readonly Wait[] {
  return wait === null ? moreWaits : [wait, ...moreWaits]
}

/** When a parked process is to be begun again by itself, if ever. */
export function wakesAt(record: ProcessRecord): number | null {
  return record.parked && record.status === 'waiting' ? dueIn(record) : null
}

/** The earliest time that it waits for; or when it has run for as long as it may, so that somebody stops it. */
export function dueIn(record: ProcessRecord): number | null {
  const { limits, firstStarted } = record
  const overAt = limits.runMs === undefined || firstStarted === null ? null : firstStarted.at + limits.runMs
  const times = [overAt, ...waitsOf(record).map(({ until }) => until)].filter((time) => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}

/** The tool or workflow a process asks for by name; kinds that name nothing are served whole. */
export function targetOf(kind: Kind, spec: JsonObject): string | null {
  const name = kind === 'tool' ? spec['tool'] : kind === 'workflow' ? spec['workflow'] : undefined
  return typeof name === 'string' ? name : null
}
