import type { AgentState } from '../agent/state.ts'
import type { Amounts } from '../allowance/amounts.ts'
import type { Ceiling } from '../capability/ceiling.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { View } from '../object/view.ts'
import type { Placement } from '../placement/placement.ts'
import type { ScriptSnapshot } from '../script/snapshot.ts'
import type { Gate } from './gate.ts'
import type { Pid } from './pid.ts'
import type { EndStatus, PausedFrom, ReportedEnd, Status } from './status.ts'
import type { Wait } from './wait.ts'

export const KINDS = ['command', 'agent', 'workflow', 'tool', 'external'] as const
export type Kind = (typeof KINDS)[number]

export const LIFETIMES = ['turn', 'session', 'parent', 'daemon', 'detached'] as const
export type Lifetime = (typeof LIFETIMES)[number]

export const RECOVERIES = ['rerunnable', 'bound', 'external'] as const
/** The policy after a lost holder: the process runs again, it never runs again, or no kernel does anything. */
export type Recovery = (typeof RECOVERIES)[number]

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
export type OwnerSelector = (typeof OWNER_SELECTORS)[number]
/** The scope a process belongs to; lists and interrupts select by it. */
export type Owner = { readonly [selector in OwnerSelector]?: string }

/** The source of a request. `host` is the embedding program or the operator; `kernel` acts for itself (recovery, lifetimes). */
export type Actor =
  | 'host'
  /** A person with a name. */
  | `human:${string}`
  | `session:${string}`
  | `process:${Pid}`
  | `kernel:${string}`

/** The addressee of a notice. */
export type Scope = `session:${string}` | `process:${Pid}` | `human:${string}`

/** An event type that a process declares. */
export interface EventType {
  /** JSON Schema of the payload. */
  readonly schema: JsonObject
  /** An event of this type ends the process, with its payload as the result. */
  readonly end?: ReportedEnd
  /** An event of this type is a notice to the process's wake target, and may start a turn there. */
  readonly wake?: boolean
  /** The payload becomes the facet of this name. */
  readonly facet?: string
}

export interface Limits {
  /** How often it may begin, the first time included, when its holders die. */
  readonly attempts: number
  /** How deep the tree may grow, counted from the root; children inherit it. */
  readonly depth: number
  /**
   * How many of its children may live at once; tools are calls, and not counted. Children inherit this and the ceilings below, each
   * with the full amount.
   */
  readonly liveChildren?: number
  /** How long a command may run. */
  readonly runMs?: number
  /** How much memory a command and everything that it started may use. */
  readonly memoryBytes?: number
  /** The amounts given at registration. The rest is in the account. */
  readonly allowance?: Amounts
}

export interface GroupSeat {
  readonly id: string
  /** The scope that gets its notices. Groups of different scopes are different groups, even with equal ids. */
  readonly scope: Scope | null
  readonly index: number
  readonly size: number
}

/** The progress of a workflow. Its steps are events; the record only counts. */
interface Journal {
  /** The last step on record. */
  readonly last: number
  /** How many attempts came before the one that took it: attempts without progress are limited, long life is not. */
  readonly attempts: number
}

export const EVIDENCES = [
  'keeper_lost',
  'holder_dead',
  'holder_drain',
  'requested',
  'identity_mismatch',
  /** Its OS process is gone, and Reeve was not its parent: how it ended is unknown. */
  'process_gone',
  'not_seen_to_stop',
] as const
/** Why an unseen end is believed. `not_seen_to_stop`: its code was asked to stop, and ignores that. */
export type Evidence = (typeof EVIDENCES)[number]

/** How a process ended. */
export interface Outcome {
  readonly status: EndStatus
  /** Of a command: its exit code; null if a signal ended it, or the code is unknown. */
  readonly exitCode: number | null
  /** Of a command: the signal that ended it, such as `SIGTERM`. */
  readonly signal: string | null
  /** Why it ended, if it was asked to end, failed or reached a limit. */
  readonly reason: string | null
  /** The actor that requested the end, if any did. */
  readonly source: Actor | null
  /** What it returned, or reported with its end; null if nothing. */
  readonly result: Json
  /** Of an unseen end: why it is believed. */
  readonly evidence: Evidence | null
  /** When it first started; null if it never did. */
  readonly startedAt: number | null
  readonly endedAt: number
}

/** The state of one watch. Scanning goes on behind `scannedTo` after a restart, so that no match is reported twice. */
export interface WatchState {
  readonly scannedTo: number
  readonly toldAt: number | null
  /** Windows in a row in which matches were held back. */
  readonly strikes: number
  readonly disabled: boolean
}

/** Whether it is ready, by the definition in its spec. */
interface Readiness {
  readonly at: number
  readonly ready: boolean
}

export const STOPS = ['interrupt', 'cancel', 'kill'] as const
/** How hard a stop is, weakest first. */
export type StopHow = (typeof STOPS)[number]

/** The OS process behind a command, as its keeper saw it. A PID without start time is never signalled. */
export interface Program {
  readonly osPid: number
  readonly startTime: string | null
  readonly boot: string
  readonly group: number
  /** How its whole tree is found: by a cgroup of its own, or by a marker in the inherited environment. */
  readonly tree: 'cgroup' | 'marker'
  /** How a memory limit is enforced, if there is one. */
  readonly memoryBy: 'cgroup' | 'sampled' | null
}

interface StopRequest {
  readonly how: StopHow
  readonly reason: string
  /** The actor that requested it. */
  readonly source: Actor
  /** The process whose stop led to this one. */
  readonly cause: Pid | null
  /** The time before it is forced, if the request has one. */
  readonly graceMs?: number
  /** When it was requested. */
  readonly at: number
  /** Of an external process: when the request reached it. Absent until then, so that a restarted kernel sends it again. */
  readonly deliveredAt?: number
}

/** Named signals of one name: untaken ones wait in the order of their arrival. */
export interface SignalQueue {
  readonly received: number
  readonly taken: number
  /** `seq` of each signal that no wait has taken. */
  readonly pending: readonly number[]
}

/** What rules have ruled on before a command begins. If that has changed by then, the command is asked about. */
export interface RuledOn {
  /** The hash of its folder and of the files of its programs. */
  readonly hash: string
  /** The uses of counted rules that it has taken. Absent if there are none. */
  readonly uses?: readonly { readonly subject: string; readonly id: string }[]
}

/** A registration with every default filled in: the payload of `registered`, and the beginning of the record. */
export interface Registration<K extends Kind = Kind, Spec extends JsonObject = JsonObject> {
  readonly pid: Pid
  /** The name that callers may use instead of the pid. */
  readonly name: string | null
  readonly kind: K
  /** What it runs. */
  readonly spec: Spec
  /** A name for people: that of the request, or one made from the spec. */
  readonly label: string
  /** What it is an instance of, for filters. */
  readonly definition: Json
  readonly parent: Pid | null
  /** The process at the top of its tree; its own pid if it has no parent. */
  readonly root: Pid
  /** How far it is below the root, from 0. */
  readonly depth: number
  /** The process that it restarts. */
  readonly restartOf: Pid | null
  readonly group: GroupSeat | null
  readonly owner: Owner
  /** The actor that registered it. */
  readonly originator: Actor
  /** What caused it, as the request said. */
  readonly causedBy: JsonObject | null
  /** Copied to its notices, for the reader. */
  readonly replyTo: Json
  /** The scope with whose end it is stopped. */
  readonly lifetime: Lifetime
  readonly recovery: Recovery
  /** Where it is executed; null: at any holder that serves it. */
  readonly placement: Placement | null
  /** The hash under which its environment is stored. */
  readonly envRef: string | null
  /** Its working directory. */
  readonly cwd: string | null
  /** The event types that it declares, by name. */
  readonly eventTypes: { readonly [type: string]: EventType }
  /** The hash of the request, by which a repeated one is recognised. */
  readonly registrationHash: string
  /** The session that gets its notices. */
  readonly wakeTarget: string | null
  readonly limits: Limits
  /** The ceilings over everything that it does: its own, and those of all processes above it. Absent if there is none. */
  readonly ceilings?: readonly Ceiling[]
  /** The sessions above that of its owner, the nearest first. Absent if there is none. */
  readonly sessionsAbove?: readonly string[]
  /**
   * Of a process that a kernel started without a parent, again or as a hook: the process or session whose rules bind its start. Absent
   * if the kernel acts for none.
   */
  readonly actsFor?: Actor
  /** Of a command that rules let begin without an approval. Absent if no rule tells commands apart. */
  readonly ruledOn?: RuledOn
  /** Which objects it sees besides those of its own namespace. Absent if it was forked from no other process. */
  readonly view?: View
}

/**
 * The fold of a process's events, and nothing else. Times are milliseconds since 1970. `RecordOf` names the record of one
 * kind.
 */
export interface ProcessRecord<K extends Kind = Kind, Spec extends JsonObject = JsonObject>
  extends Omit<Registration<K, Spec>, 'label' | 'definition'> {
  /** `label` is a name for people; `definition` is what it is an instance of, for filters. */
  readonly identity: { readonly label: string; readonly definition: Json }
  readonly status: Status
  /** Of a paused process: the status that it returns to. */
  readonly pausedFrom: PausedFrom | null
  /** The strongest request to stop so far. */
  readonly stopRequest: StopRequest | null
  /** What it waits for. */
  readonly wait: Wait | null
  /** Further waits of a workflow, in the order in which it entered them. */
  readonly moreWaits: readonly Wait[]
  /** It waits, and is in no program's memory. The end of a wait makes it claimable. */
  readonly parked: boolean
  /** Of a script that has left memory while it waited. Absent for all else, and once it has ended. */
  readonly snapshot?: ScriptSnapshot
  /** Processes that wait for the end of this one: its parent, and parked ones. */
  readonly awaitedBy: readonly Pid[]
  /** Of a workflow: how many steps are on record. */
  readonly journal: Journal | null
  /** Of an agent that Reeve drives: where its session is. */
  readonly agent: AgentState | null
  /** Of a process that may begin only with an approval. */
  readonly gate: Gate | null
  /** The spec that is executed, if the approval changed it; `spec` stays as it was asked for. */
  readonly effectiveSpec: JsonObject | null
  /** Named signals that were sent to it, by name. */
  readonly signals: { readonly [name: string]: SignalQueue }
  /** How many children were ever registered under it. */
  readonly children: number
  /** How often it began; an attempt that was released or parked does not count. */
  readonly attempts: number
  /** The earliest time of the next start: the backoff after a lost holder. */
  readonly retryAt: number | null
  /** When it began for the first time, and at which holder. */
  readonly firstStarted: { readonly at: number; readonly holder: string } | null
  /** Of a command: its OS process. */
  readonly program: Program | null
  /** By name; only watches that have reported something. */
  readonly watches: { readonly [watch: string]: WatchState }
  /** Of a command with a readiness check: whether it is ready, once that is known. */
  readonly readiness: Readiness | null
  /** An operator asked to abandon it while a kernel holds it. */
  readonly abandonRequest: { readonly reason: string; readonly source: Actor; readonly at: number } | null
  /** Of an external process: its id in the other system. */
  readonly externalRef: Json
  /** How it ended; null while it lives. */
  readonly outcome: Outcome | null
  /** The latest payloads of declared event types with a facet, by the facet's name. */
  readonly facets: { readonly [facet: string]: Json }
  /** `seq` of the last event folded in. */
  readonly revision: number
  /** When it was registered. */
  readonly createdAt: number
  /** The time of its last event. */
  readonly updatedAt: number
}

/** The target of agents that Reeve drives. */
export const NATIVE_AGENT = 'native'

export function hasEnded(record: ProcessRecord): boolean {
  return record.outcome !== null
}

/** The tool or workflow that a process names, or that an agent is driven by Reeve; null for all others. */
export function targetOf(kind: Kind, spec: JsonObject): string | null {
  if (kind === 'agent') return typeof spec['model'] === 'string' ? NATIVE_AGENT : null
  const name = kind === 'tool' ? spec['tool'] : kind === 'workflow' ? spec['workflow'] : undefined
  return typeof name === 'string' ? name : null
}
