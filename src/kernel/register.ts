import type { SessionContinued } from '../core/agent/earlier-logs.ts'
import type { ReportSeat } from '../core/agent/report-group.ts'
import type { ToolCallRef } from '../core/agent/state.ts'
import type { ShownChange } from '../core/approval/shown-change.ts'
import type { Ceiling } from '../core/capability/ceiling.ts'
import type { Need } from '../core/capability/need.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Placement } from '../core/placement/placement.ts'
import { refuseInUse, refuseSharedNames } from '../core/process/if-running.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { RegisterIntent } from '../core/process/register.ts'
import { type RegistrationRequest, registrationText } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { know, type Plan } from '../store/contract.ts'
import type { RestartedProcess } from './allowances.ts'
import type { Edges } from './edges.ts'
import { HostLooks, type ResolveAction } from './host-looks.ts'
import type { PlanPart } from './plan-part.ts'
import { type HostFacts, type NamedRequest, registerOne, type Unresolved } from './register-one.ts'
import { startReview } from './start-review.ts'
import { WorkingRows } from './working-rows.ts'

export interface Registering {
  readonly request: RegistrationRequest
  readonly actor: Actor
  /** Chosen by the caller. Otherwise it follows from the idempotency key, or is new. */
  readonly pid?: Pid
  readonly idempotencyKey?: string
  /** Where the registering program is. */
  readonly here?: readonly Placement[]
  /** The holder that begins it in the same transaction. */
  readonly startBy?: string
  /** Only while that holder has a row: one that was removed begins nothing. */
  readonly whileAnnounced?: true
  /** The refusal for a new process. A process that exists already is still an answer. */
  readonly refuseNew?: Refusal
  /** Of the parent's executor, if it is the one that asks. */
  readonly fence?: Fence
  /** The step of the parent, a workflow, that spawns it. */
  readonly stepIndex?: number
  /** The call of the parent, an agent, that it is the process of. It is registered only while the call is open. */
  readonly openCall?: ToolCallRef
  /** Of an agent below another one: its place in a group that reports at once. */
  readonly reportSeat?: ReportSeat
  /** It continues the session of the ended agent that it restarts. */
  readonly continuesSession?: true
  /** Its session branches from that of another agent. */
  readonly branch?: SessionContinued
  /** Of a tool whose caller knows what the call does: its effects, which are ruled on in place of the call itself. */
  readonly effects?: readonly Need[]
  /** Finds out what the call would make of a file. It is called once, if a person is asked. */
  readonly preview?: () => Promise<ShownChange | null>
  /** Ceilings of the actor that it acts for, besides those of its parent. */
  readonly ceilings?: readonly Ceiling[]
  /** Of a hook: the ended agent, or the agent whose turn has ended, in whose name the kernel registers it. */
  readonly hookOf?: Pid
  /** It restarts this process, whose end is about to be written, and gets the rest of its allowance. */
  readonly restarts?: RestartedProcess
}

export type Registered =
  /** `removed`: the holder that was to begin it has no row any more. */
  | { readonly type: 'registered'; readonly row: ProcessRow; readonly removed?: string }
  | { readonly type: 'existing' | 'running'; readonly row: ProcessRow }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** How often the host is asked for each registration, if facts change meanwhile. */
const MAX_LOOKS = 8

/**
 * Registers all of them in one transaction, or none: the first refusal refuses all. A child, its parent's event, its
 * seat in a group and its first grants are written together. If rules tell commands apart, the host resolves the commands first.
 */
export function register(
  edges: Edges,
  registering: readonly Registering[],
  defaultEnvRef: string,
  resolve: ResolveAction = async () => null,
): Promise<Registered[] | Refusal> {
  const at = edges.clock.now()
  const keyed = registering.map((one) => keyedPid(edges, one))
  const write = async (pids: readonly (Pid | undefined)[]) => {
    const asked = registering.map((one, index) => toIntent(edges, one, pids[index], defaultEnvRef, at))
    const host = new HostLooks(edges, resolve, registering.length * MAX_LOOKS)
    const guess = host.guess(registering)
    // Without a guess the plan joins the batch of this turn.
    if (guess !== undefined) await guess
    for (;;) {
      const notes: PlanNotes = { isAudited: false }
      const answer = await edges.store.write(registrationPlan(edges, asked, host.facts, notes))
      if (!isUnresolved(answer)) {
        if (notes.isAudited) edges.onAudited?.()
        if (!isRefusal(answer))
          for (const { row } of registeredIn(answer)) edges.workspaces?.learnProcess(row.record)
        return answer
      }
      const refused = await host.look(answer, previewOf(asked, answer))
      if (refused !== undefined) return refused
    }
  }
  // Only the first key of a store has to wait for its pid.
  return keyed.every(isKnown) ? write(keyed) : Promise.all(keyed).then(write)
}

function registeredIn(answer: readonly Registered[]) {
  return answer.filter((one) => one.type === 'registered')
}

/** What the last run of a plan did, besides its answer. */
interface PlanNotes {
  isAudited: boolean
}

function previewOf(
  asked: readonly ReturnType<typeof toIntent>[],
  { unresolved }: Unresolved,
): Registering['preview'] {
  return asked.find(({ intent }) => intent.pid === unresolved.pid)?.preview
}

function isUnresolved(answer: Registered[] | Refusal | Unresolved): answer is Unresolved {
  return 'unresolved' in answer
}

function registrationPlan(
  edges: Edges,
  intents: readonly ReturnType<typeof toIntent>[],
  host: HostFacts,
  notes: PlanNotes,
): Plan<Registered[] | Refusal | Unresolved> {
  return function* () {
    const rows = new WorkingRows()
    const registered: Registered[] = []
    const names: NamedRequest[] = []
    const replaced: ProcessRow[] = []
    for (const [index, { intent, mustBeAnnounced, ...own }] of intents.entries()) {
      if (own.isNew) rows.assumeAbsent(intent.pid)
      const removed = yield* removedHolder(mustBeAnnounced)
      const asked = removed === undefined ? intent : { ...intent, startBy: null }
      const one = yield* registerOne(edges, rows, asked, { ...own, names, replaced, host })
      if (one.type === 'unresolved') return { answer: one, changes: [] }
      if (one.type === 'refused') {
        const { refusal, changes = [] } = one
        notes.isAudited = changes.length > 0
        return { answer: inBatch(refusal, index, intents.length), changes }
      }
      if (one.type === 'registered' && one.row.record.gate !== null) {
        const { at, defaultEnvRef } = intent
        yield* startReview(edges, rows, { pid: one.row.record.pid, at, defaultEnvRef })
      }
      registered.push(one.type === 'registered' && removed !== undefined ? { ...one, removed } : one)
    }
    // Last: processes are ended for these requests only if all requests would be registered then.
    const refused = refuseSharedNames(names) ?? refuseInUse(replaced)
    notes.isAudited = refused === undefined && rows.changes.some(({ type }) => type === 'audit')
    return refused === undefined
      ? { answer: registered, changes: rows.changes }
      : { answer: refused, changes: [] }
  }
}

/** The holder that must have a row, if it has none. */
function* removedHolder(holder: string | undefined): PlanPart<string | undefined> {
  if (holder === undefined) return undefined
  return (yield* know({ ask: 'announced', id: holder })) ? undefined : holder
}

function isKnown(pid: Pid | undefined | Promise<Pid>): pid is Pid | undefined {
  return !(pid instanceof Promise)
}

function keyedPid(edges: Edges, { actor, pid, idempotencyKey }: Registering): Pid | undefined | Promise<Pid> {
  return pid !== undefined || idempotencyKey === undefined
    ? undefined
    : edges.pidForKey(actor, idempotencyKey)
}

/** The pid that a request determines; undefined if it gets a new one. */
export async function pidGiven(edges: Edges, registering: Registering): Promise<Pid | undefined> {
  return registering.pid ?? keyedPid(edges, registering)
}

export function toIntent(
  edges: Edges,
  registering: Registering,
  keyed: Pid | undefined,
  defaultEnvRef: string,
  at: number,
) {
  const {
    request,
    actor,
    pid,
    idempotencyKey,
    here = [],
    startBy,
    whileAnnounced,
    refuseNew,
    fence,
    stepIndex,
    openCall,
    effects,
    preview,
    restarts,
    ceilings,
    reportSeat,
    continuesSession,
    branch,
    hookOf,
  } = registering
  const given = pid ?? keyed
  // The pid that version 0.1 derived from a key: anyone could compute it.
  const formerPid = keyed === undefined ? undefined : edges.pidOf(`${actor} ${idempotencyKey}`)
  const text = registrationText(request)
  const intent: RegisterIntent = {
    pid: given ?? edges.newPid(),
    bytes: text.length,
    hash: edges.hash(text),
    request,
    actor,
    at,
    defaultEnvRef,
    here,
    startBy: startBy ?? null,
    refuseNew: refuseNew ?? null,
    fence: fence ?? null,
    stepIndex: stepIndex ?? null,
    ...(openCall === undefined ? {} : { openCall }),
    ...(ceilings === undefined ? {} : { ceilings }),
    ...(reportSeat === undefined ? {} : { reportSeat }),
    ...(continuesSession === undefined ? {} : { continuesSession }),
    ...(branch === undefined ? {} : { branch }),
    ...(hookOf === undefined ? {} : { hookOf }),
    approval: null,
    acceptsLess: restarts !== undefined,
  }
  const mustBeAnnounced = whileAnnounced === undefined ? undefined : startBy
  return {
    intent,
    isNew: given === undefined,
    formerPid,
    restarts,
    effects,
    preview,
    mustBeAnnounced,
  }
}

function inBatch(refused: Refusal, index: number, count: number): Refusal {
  return count === 1
    ? refused
    : { ...refused, message: `Request ${index}: ${refused.message}`, details: { ...refused.details, index } }
}
