import { groupKeyOf } from '../core/group/group.ts'
import { emptyInbox } from '../core/inbox/inbox.ts'
import { ownListenerOf } from '../core/inbox/notice.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Placement } from '../core/placement/placement.ts'
import { fold } from '../core/process/fold.ts'
import {
  isSameScope,
  nameGuardOf,
  refuseInUse,
  refuseSharedNames,
  replacedBy,
} from '../core/process/if-running.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type Owner } from '../core/process/record.ts'
import {
  decideRegister,
  environmentOf,
  ownerOf,
  type RegisterFacts,
  type RegisterIntent,
  type RegistrationRequest,
  registrationText,
} from '../core/process/register.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Refusal } from '../core/refusal.ts'
import { type Change, know, type Page, type Plan, type Question } from '../store/contract.ts'
import { carvedChanges, giveBackEarly, giverOf, type Succeeded } from './allowances.ts'
import type { Edges } from './edges.ts'
import { WorkingRows } from './working-rows.ts'

export interface Registering {
  readonly request: RegistrationRequest
  readonly actor: Actor
  /** Given by the caller; otherwise it comes from the idempotency key, or is new. */
  readonly pid?: Pid
  readonly idempotencyKey?: string
  /** Where the program is that registers it. */
  readonly here?: readonly Placement[]
  /** Whoever serves it here begins it in the same transaction. */
  readonly startBy?: string
  /** Only if that one has a row: a holder that was removed begins nothing. */
  readonly whileAnnounced?: true
  /** Nothing new can be taken: only a process that is there already is an answer. */
  readonly refuseNew?: Refusal
  /** Of the parent's executor, when it is the one that asks. */
  readonly fence?: Fence
  /** The step of the parent, a workflow, that spawns it. */
  readonly place?: number
  /** It follows this one, whose end is about to be written: it takes its place, and of its allowance what is left. */
  readonly succeeds?: Succeeded
}

export type Registered =
  /** `removed`: it was to be begun by a holder that has no row any more. */
  | { readonly type: 'registered'; readonly row: ProcessRow; readonly removed?: string }
  | { readonly type: 'existing' | 'running'; readonly row: ProcessRow }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/**
 * Registers all of them in one transaction, or none: the first refusal refuses all. A child, its parent's event, its
 * seat in a group and its first grants come to be together.
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
  // The pid of a key is known at once, but for the first of a store.
  return keyed.every(isKnown) ? write(keyed) : Promise.all(keyed).then(write)
}

function registrationPlan(
  edges: Edges,
  intents: readonly ReturnType<typeof toIntent>[],
): Plan<Registered[] | Refusal> {
  return function* () {
    const rows = new WorkingRows()
    const registered: Registered[] = []
    const names: Named[] = []
    const replaced: ProcessRow[] = []
    for (const [index, { intent, mustBeAnnounced, ...own }] of intents.entries()) {
      if (own.isNew) rows.assumeAbsent(intent.pid)
      const removed = yield* removedOf(mustBeAnnounced)
      const asked = removed === undefined ? intent : { ...intent, startBy: null }
      const one = yield* registerOne(edges, rows, asked, { ...own, names, replaced })
      if (one.type === 'refused') return { answer: inBatch(one.refusal, index, intents.length), changes: [] }
      registered.push(one.type === 'registered' && removed !== undefined ? { ...one, removed } : one)
    }
    // Last: what has to end for them is ended only if all of them would be registered then.
    const refused = refuseSharedNames(names) ?? refuseInUse(replaced)
    return refused === undefined
      ? { answer: registered, changes: rows.changes }
      : { answer: refused, changes: [] }
  }
}

/** The holder, if it has no row. */
function* removedOf(
  holder: string | undefined,
): Generator<readonly Question[], string | undefined, readonly unknown[]> {
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

/** The pid that a request decides by itself. */
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
    place,
    succeeds,
  } = registering
  const given = pid ?? keyed
  // The pid that version 0.1 gave to a key: anybody could work it out.
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
    place: place ?? null,
    fits: succeeds !== undefined,
  }
  const mustBeAnnounced = whileAnnounced === undefined ? undefined : startBy
  return { intent, isNew: given === undefined, formerPid, succeeds, mustBeAnnounced }
}

interface Circumstances {
  /** The pid was made for it a moment ago. */
  readonly isNew: boolean
  readonly formerPid: Pid | undefined
  readonly succeeds: Succeeded | undefined
  /** Of the requests of this plan so far; this one's is added. */
  readonly names: Named[]
  /** What has to end before the plan can be carried out. */
  readonly replaced: ProcessRow[]
}

type Named = Pick<RegistrationRequest, 'name' | 'ifRunning'> & { readonly owner: Owner }

function* registerOne(
  edges: Edges,
  rows: WorkingRows,
  intent: RegisterIntent,
  circumstances: Circumstances,
): Generator<readonly Question[], Registered, readonly unknown[]> {
  const facts = yield* registerFacts(rows, intent, circumstances)
  const { request, pid, actor, at } = intent
  const owner = ownerOf(request, facts.parent?.record ?? null, actor)
  circumstances.names.push({ ...request, owner })
  const denied = edges.authorize(actor, 'execute', {
    type: 'registration',
    owner,
    parent: facts.parent?.record ?? null,
  })
  if (denied !== undefined) return { type: 'refused', refusal: denied }
  const { wakeTarget } = request
  const mayWake =
    wakeTarget === undefined || wakeTarget === owner.session
      ? undefined
      : edges.authorize(actor, 'write', { type: 'session', id: wakeTarget })
  if (mayWake !== undefined) return { type: 'refused', refusal: mayWake }
  const answered = facts.existing ?? facts.running
  const hidden =
    answered === null
      ? undefined
      : edges.authorize(actor, 'read', { type: 'process', record: answered.record })
  if (hidden !== undefined) return { type: 'refused', refusal: hidden }
  const decision = decideRegister(facts, intent, edges.rules)
  if (decision.type !== 'register')
    return decision.type === 'refuse' ? { type: 'refused', refusal: decision.refusal } : decision
  if (decision.replaced !== null) {
    const { record } = decision.replaced
    const mayEnd = edges.authorize(actor, 'signal', { type: 'process', record })
    if (mayEnd !== undefined) return { type: 'refused', refusal: mayEnd }
    circumstances.replaced.push(decision.replaced)
  }
  if (request.ifRunning !== undefined) rows.add([yield* guardOfName(owner)])
  const { lease } = decision
  const child = fold({ pid, was: null, group: facts.group, events: decision.events, lease, actor, at })
  rows.add(child.changes)
  rows.add(carvedChanges(facts.account, decision.carved))
  if (facts.parent !== null) {
    const { parent } = facts
    rows.add(
      fold({
        pid: parent.record.pid,
        was: parent,
        group: null,
        events: decision.parentEvents,
        lease: undefined,
        actor,
        at,
      }).changes,
    )
  }
  const { envRef } = child.row.record
  if (envRef !== null && envRef !== intent.defaultEnvRef)
    rows.add([{ type: 'environment_used', ref: envRef, by: `process:${pid}` }])
  for (const { session, descriptor } of request.grants ?? []) {
    rows.add([{ type: 'grant', grant: { session, pid, descriptor: descriptor ?? null, at } }])
  }
  return { type: 'registered', row: child.row }
}

function* registerFacts(
  rows: WorkingRows,
  { request, pid, actor, defaultEnvRef }: RegisterIntent,
  { isNew, formerPid, succeeds, replaced }: Circumstances,
): Generator<readonly Question[], RegisterFacts, readonly unknown[]> {
  const [found = null, former = null] = yield* rows.processes(
    formerPid === undefined || formerPid === pid ? [pid] : [pid, formerPid],
  )
  // Another actor may have registered a process under the pid of the former scheme: the key does not refer to it.
  const existing = found ?? (former?.record.originator === actor ? former : null)
  if (existing === null && succeeds !== undefined) yield* giveBackEarly(rows, succeeds)
  const parent = request.parent === undefined ? null : yield* rows.process(request.parent)
  // Compared at the commit: it is not pruned between the decision and the reference that keeps it.
  if (existing === null && request.restartOf !== undefined) yield* rows.process(request.restartOf)
  const owner = ownerOf(request, parent?.record ?? null, actor)
  const { session, turn } = owner
  const envRef = environmentOf(request)
  const inSession = session === undefined ? null : yield* know({ ask: 'session', id: session })
  const listening = { owner, parent: parent?.record.pid ?? null }
  const running = existing === null ? yield* runningAs(rows, request, owner) : null
  const gone = new Set([...replaced, replacedBy(running, request)].map((row) => row?.record.pid))
  return {
    existing,
    tombstone: existing !== null || isNew ? null : yield* know({ ask: 'tombstone', pid }),
    parent,
    stoppingAncestor: parent === null ? null : yield* stoppingAncestor(rows, parent, gone),
    session: inSession,
    turn:
      session === undefined || turn === undefined ? null : yield* know({ ask: 'turn', session, id: turn }),
    unusableSession: yield* unusableSession(request),
    group:
      request.group === undefined
        ? null
        : yield* rows.group(
            groupKeyOf({
              id: request.group.id,
              scope: ownListenerOf({ ...listening, wakeTarget: request.wakeTarget ?? null }),
            }),
          ),
    environmentKnown:
      envRef === undefined ||
      envRef === defaultEnvRef ||
      (yield* know({ ask: 'environment', ref: envRef })) !== null,
    account: existing === null ? yield* giverOf(rows, parent, inSession) : null,
    liveChildren: yield* liveChildrenOf(rows, parent, new Set([succeeds?.pid, ...gone])),
    running,
  }
}

const NAMED_PAGE = 100

/** A process of the same name that lives in the same scope. */
function* runningAs(
  rows: WorkingRows,
  { name, ifRunning }: RegistrationRequest,
  owner: Owner,
): Generator<readonly Question[], ProcessRow | null, readonly unknown[]> {
  if (name === undefined || ifRunning === undefined) return null
  // Before the processes: a registration that comes between the two answers changes this row.
  yield* know({ ask: 'inbox', scope: nameGuardOf(owner) })
  const isMeant = ({ record }: ProcessRow) =>
    record.name === name && !hasEnded(record) && isSameScope(record.owner, owner)
  for (const change of rows.changes)
    if (change.type === 'process' && change.was === null && isMeant(change.row)) return change.row
  const filter = {
    name: [name],
    ...(owner.session === undefined ? {} : { owner: { session: [owner.session] } }),
  }
  let after: number | null = null
  do {
    const page: Page<ProcessRow> = yield* know({ ask: 'processes', filter, after, limit: NAMED_PAGE })
    const found = page.items.find(isMeant)
    if (found !== undefined) return found
    after = page.next
  } while (after !== null)
  return null
}

function* guardOfName(owner: Owner): Generator<readonly Question[], Change, readonly unknown[]> {
  const scope = nameGuardOf(owner)
  const was = yield* know({ ask: 'inbox', scope })
  return { type: 'inbox', was, inbox: was ?? emptyInbox(scope) }
}

/** Nobody counts them who has no limit of them. The parent's row is written with each, so that none is overlooked. */
function* liveChildrenOf(
  rows: WorkingRows,
  parent: ProcessRow | null,
  gone: ReadonlySet<Pid | undefined>,
): Generator<readonly Question[], number, readonly unknown[]> {
  const most = parent?.record.limits.liveChildren
  if (parent === null || most === undefined) return 0
  const { pid } = parent.record
  const live = yield* know({
    ask: 'processes',
    filter: { parent: [pid] },
    after: null,
    limit: most + 1 + gone.size,
  })
  const ofThisPlan = rows.changes.filter(
    (change) => change.type === 'process' && change.was === null && change.row.record.parent === pid,
  )
  return live.items.filter(({ record }) => !gone.has(record.pid)).length + ofThisPlan.length
}

function* unusableSession(
  request: RegistrationRequest,
): Generator<readonly Question[], string | null, readonly unknown[]> {
  const named = (request.grants ?? []).map(({ session }) => session)
  if (request.wakeTarget !== undefined) named.push(request.wakeTarget)
  for (const id of new Set(named)) {
    const session = yield* know({ ask: 'session', id })
    if (session === null || session.endedAt !== null) return id
  }
  return null
}

/**
 * Seeing a far ancestor's stop early is a courtesy. What makes it certain is the parent's own row, which this
 * registration writes: once the stop has been carried to the parent, no child is registered under it any more.
 */
function* stoppingAncestor(
  rows: WorkingRows,
  parent: ProcessRow,
  gone: ReadonlySet<Pid | undefined>,
): Generator<readonly Question[], ProcessRow | null, readonly unknown[]> {
  for (let row: ProcessRow | null = parent; row !== null; ) {
    const { pid, status } = row.record
    if (hasEnded(row.record) || status === 'stopping' || gone.has(pid)) return row
    if (row.record.parent === null) return null
    row = yield* rows.process(row.record.parent)
  }
  return null
}

function inBatch(refused: Refusal, index: number, count: number): Refusal {
  return count === 1
    ? refused
    : { ...refused, message: `Request ${index}: ${refused.message}`, details: { ...refused.details, index } }
}
