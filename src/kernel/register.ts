import type { Fence } from '../core/lease/lease.ts'
import type { Placement } from '../core/placement/placement.ts'
import { fold } from '../core/process/fold.ts'
import { refuseInUse, refuseSharedNames } from '../core/process/if-running.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Owner } from '../core/process/record.ts'
import { decideRegister, type RegisterFacts, type RegisterIntent } from '../core/process/register.ts'
import { ownerOf } from '../core/process/registration-defaults.ts'
import { type RegistrationRequest, registrationText } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Refusal } from '../core/refusal.ts'
import { know, type Plan } from '../store/contract.ts'
import { carvedChanges, type RestartedProcess } from './allowances.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { guardOfName, type RegistrationContext, registerFacts } from './register-facts.ts'
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
  /** It restarts this process, whose end is about to be written, and gets the rest of its allowance. */
  readonly restarts?: RestartedProcess
}

export type Registered =
  /** `removed`: the holder that was to begin it has no row any more. */
  | { readonly type: 'registered'; readonly row: ProcessRow; readonly removed?: string }
  | { readonly type: 'existing' | 'running'; readonly row: ProcessRow }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/**
 * Registers all of them in one transaction, or none: the first refusal refuses all. A child, its parent's event, its
 * seat in a group and its first grants are written together.
 */
export function register(
  edges: Edges,
  registering: readonly Registering[],
  defaultEnvRef: string,
): Promise<Registered[] | Refusal> {
  const at = edges.clock.now()
  const keyed = registering.map((one) => keyedPid(edges, one))
  const write = (pids: readonly (Pid | undefined)[]) =>
    edges.store.write(
      registrationPlan(
        edges,
        registering.map((one, index) => toIntent(edges, one, pids[index], defaultEnvRef, at)),
      ),
    )
  // Only the first key of a store has to wait for its pid.
  return keyed.every(isKnown) ? write(keyed) : Promise.all(keyed).then(write)
}

function registrationPlan(
  edges: Edges,
  intents: readonly ReturnType<typeof toIntent>[],
): Plan<Registered[] | Refusal> {
  return function* () {
    const rows = new WorkingRows()
    const registered: Registered[] = []
    const names: NamedRequest[] = []
    const replaced: ProcessRow[] = []
    for (const [index, { intent, mustBeAnnounced, ...own }] of intents.entries()) {
      if (own.isNew) rows.assumeAbsent(intent.pid)
      const removed = yield* removedHolder(mustBeAnnounced)
      const asked = removed === undefined ? intent : { ...intent, startBy: null }
      const one = yield* registerOne(edges, rows, asked, { ...own, names, replaced })
      if (one.type === 'refused') return { answer: inBatch(one.refusal, index, intents.length), changes: [] }
      registered.push(one.type === 'registered' && removed !== undefined ? { ...one, removed } : one)
    }
    // Last: processes are ended for these requests only if all requests would be registered then.
    const refused = refuseSharedNames(names) ?? refuseInUse(replaced)
    return refused === undefined
      ? { answer: registered, changes: rows.changes }
      : { answer: refused, changes: [] }
  }
}

/** The fields that are compared between the requests of one plan. */
type NamedRequest = Pick<RegistrationRequest, 'name' | 'ifRunning'> & { readonly owner: Owner }

/** One registration of a plan: reads the facts, asks for permission, decides, and adds the changes to `rows`. */
function* registerOne(
  edges: Edges,
  rows: WorkingRows,
  intent: RegisterIntent,
  context: RegistrationContext & { readonly names: NamedRequest[] },
): PlanPart<Registered> {
  const facts = yield* registerFacts(rows, intent, context)
  const { request, pid, actor, at } = intent
  const owner = ownerOf(request, facts.parent?.record ?? null, actor)
  context.names.push({ ...request, owner })
  const denied = deny(edges, intent, facts, owner)
  if (denied !== undefined) return { type: 'refused', refusal: denied }
  const decision = decideRegister(facts, intent, edges.rules)
  if (decision.type !== 'register')
    return decision.type === 'refuse' ? { type: 'refused', refusal: decision.refusal } : decision
  if (decision.replaced !== null) {
    const { record } = decision.replaced
    const notEnded = edges.authorize(actor, 'signal', { type: 'process', record })
    if (notEnded !== undefined) return { type: 'refused', refusal: notEnded }
    context.replaced.push(decision.replaced)
  }
  if (request.ifRunning !== undefined) rows.add([yield* guardOfName(owner)])
  const { lease } = decision
  const child = fold({ pid, was: null, group: facts.group, events: decision.events, lease, actor, at })
  rows.add(child.changes)
  rows.add(carvedChanges(facts.account, decision.carved))
  const { parent: was } = facts
  if (was !== null) {
    const { pid: parentPid } = was.record
    const events = decision.parentEvents
    rows.add(fold({ pid: parentPid, was, group: null, events, lease: undefined, actor, at }).changes)
  }
  const { envRef } = child.row.record
  if (envRef !== null && envRef !== intent.defaultEnvRef)
    rows.add([{ type: 'environment_used', ref: envRef, by: `process:${pid}` }])
  for (const { session, descriptor } of request.grants ?? []) {
    rows.add([{ type: 'grant', grant: { session, pid, descriptor: descriptor ?? null, at } }])
  }
  return { type: 'registered', row: child.row }
}

/** Whether the actor may register here, wake this target, and see the process that would be the answer. */
function deny(
  edges: Edges,
  { request: { wakeTarget }, actor }: RegisterIntent,
  { parent, existing, running }: RegisterFacts,
  owner: Owner,
): Refusal | undefined {
  const registration = { type: 'registration', owner, parent: parent?.record ?? null } as const
  const denied = edges.authorize(actor, 'execute', registration)
  if (denied !== undefined) return denied
  if (wakeTarget !== undefined && wakeTarget !== owner.session) {
    const unwakeable = edges.authorize(actor, 'write', { type: 'session', id: wakeTarget })
    if (unwakeable !== undefined) return unwakeable
  }
  const answer = existing ?? running
  if (answer === null) return undefined
  return edges.authorize(actor, 'read', { type: 'process', record: answer.record })
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

function toIntent(
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
    restarts,
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
    approval: null,
    acceptsLess: restarts !== undefined,
  }
  const mustBeAnnounced = whileAnnounced === undefined ? undefined : startBy
  return { intent, isNew: given === undefined, formerPid, restarts, mustBeAnnounced }
}

function inBatch(refused: Refusal, index: number, count: number): Refusal {
  return count === 1
    ? refused
    : { ...refused, message: `Request ${index}: ${refused.message}`, details: { ...refused.details, index } }
}
