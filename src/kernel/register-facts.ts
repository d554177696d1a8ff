import { childrenOf } from '../core/agent/delegation.ts'
import type { EarlierLog, SessionContinued } from '../core/agent/earlier-logs.ts'
import { agentOfSession } from '../core/agent/session.ts'
import { isNativeAgent } from '../core/agent/state.ts'
import { groupKeyOf } from '../core/group/group.ts'
import { emptyInbox } from '../core/inbox/inbox.ts'
import { ownListenerOf } from '../core/inbox/notice.ts'
import { delegatedPaths } from '../core/lien/lien.ts'
import { MAX_LIVE_JOBS } from '../core/memory/memory-job.ts'
import { isMemoryJob } from '../core/memory/memory-spec.ts'
import { isSameScope, nameGuardOf, replacedBy } from '../core/process/if-running.ts'
import { takesChildren } from '../core/process/parent.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, KINDS, type Owner, type ProcessRecord } from '../core/process/record.ts'
import type { RegisterFacts, RegisterIntent } from '../core/process/register.ts'
import { environmentOf, ownerOf } from '../core/process/registration-defaults.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Session } from '../core/session/session.ts'
import { type Change, know, type Page } from '../store/contract.ts'
import { giveBackEarly, giverOf, payingSession, type RestartedProcess } from './allowances.ts'
import { lendingFacts } from './path-liens.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

/** The facts about one registration besides the intent. */
export interface RegistrationContext {
  /** The pid was generated for it, so that no process can have it. */
  readonly isNew: boolean
  readonly formerPid: Pid | undefined
  readonly restarts: RestartedProcess | undefined
  /** Processes that have to end before the plan can be carried out. */
  readonly replaced: ProcessRow[]
}

/** Reads everything that `decideRegister` needs. */
export function* registerFacts(
  rows: WorkingRows,
  { request, pid, actor, defaultEnvRef, continuesSession, branch, hookOf }: RegisterIntent,
  { isNew, formerPid, restarts, replaced }: RegistrationContext,
): PlanPart<RegisterFacts> {
  // Most registrations have a new pid and need few of the facts: those are not asked for through a generator.
  const [found = null, former = null] = isNew
    ? []
    : yield* rows.processes(formerPid === undefined || formerPid === pid ? [pid] : [pid, formerPid])
  // Another actor may have registered a process under the pid of the former scheme: the key does not refer to it.
  const existing = found ?? (former?.record.originator === actor ? former : null)
  if (existing === null && restarts !== undefined) yield* giveBackEarly(rows, restarts)
  const parent = request.parent === undefined ? null : yield* rows.process(request.parent)
  // The store compares this row at the commit, so it cannot be pruned before the new reference protects it.
  const restarted =
    existing === null && request.restartOf !== undefined ? yield* rows.process(request.restartOf) : null
  const owner = ownerOf(request, parent?.record ?? null, actor)
  const actsFor =
    hookOf !== undefined
      ? (`process:${hookOf}` as const)
      : parent === null && restarted !== null && actor.startsWith('kernel:')
        ? yield* actorOfRestart(rows, restarted.record, owner)
        : null
  const { session, turn } = owner
  const envRef = environmentOf(request)
  const inSession = session === undefined ? null : yield* rows.session(session)
  const listening = { owner, parent: parent?.record.pid ?? null }
  const running =
    existing === null && request.name !== undefined ? yield* runningAs(rows, request, owner) : null
  const payer = parent === null && inSession !== null ? yield* payingSession(rows, inSession) : inSession
  const gone =
    parent === null
      ? NONE_GONE
      : new Set([...replaced, replacedBy(running, request)].map((row) => row?.record.pid))
  const lent = request.kind === 'agent' ? delegatedPaths(request) : null
  return {
    existing,
    tombstone: existing !== null || isNew ? null : yield* know({ ask: 'tombstone', pid }),
    parent,
    restarted,
    ...(actsFor === null ? {} : { actsFor }),
    ...(continuesSession === undefined || restarted === null
      ? {}
      : yield* goneLog(rows, restarted.record.agent?.earlier ?? [])),
    ...(branch === undefined || existing !== null ? {} : yield* branchFacts(rows, branch)),
    stoppingAncestor: parent === null ? null : yield* stoppingAncestor(rows, parent, gone),
    session: inSession,
    ...(parent !== null || inSession === null ? {} : yield* sessionAgent(rows, inSession)),
    turn:
      session === undefined || turn === undefined ? null : yield* know({ ask: 'turn', session, id: turn }),
    unusableSession:
      request.grants === undefined && request.wakeTarget === undefined
        ? null
        : yield* unusableSession(request),
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
    account: existing === null && (parent ?? payer) !== null ? yield* giverOf(rows, parent, payer) : null,
    payingSession: payer,
    liveChildren:
      parent === null ? 0 : yield* liveChildrenOf(rows, parent, new Set([restarts?.pid, ...gone])),
    running,
    ...(parent !== null && existing === null && isNativeAgent(request)
      ? yield* delegationFacts(rows, parent, gone)
      : {}),
    ...(request.view?.of === undefined ? {} : { viewOf: yield* rows.process(request.view.of) }),
    ...(lent === null || existing !== null
      ? {}
      : { lending: yield* lendingFacts(rows, lent, parent, new Set([restarts?.pid, ...gone])) }),
  }
}

/** The nearest agent whose session it is, or is below: it has the ceilings of all agents above it. */
function* sessionAgent(
  rows: WorkingRows,
  { id, sessionsAbove = [] }: Session,
): PlanPart<Pick<RegisterFacts, 'sessionAgent'>> {
  for (const one of [id, ...sessionsAbove]) {
    const agent = agentOfSession(one)
    const row = agent === null ? null : yield* rows.process(agent)
    if (row !== null) return { sessionAgent: row.record }
  }
  return {}
}

/** The logs of an earlier session are kept while an agent names them that lives: this one has ended. */
function* goneLog(
  rows: WorkingRows,
  earlier: readonly EarlierLog[],
): PlanPart<Pick<RegisterFacts, 'goneLog'>> {
  const pids = earlier.map(({ pid }) => pid)
  const found = yield* rows.processes(pids)
  const gone = pids.find((_, index) => found[index] === null)
  return gone === undefined ? {} : { goneLog: gone }
}

/** The store compares these rows at the commit, so none can be pruned before the record of the fork names it. */
function* branchFacts(
  rows: WorkingRows,
  { earlier, fork }: SessionContinued,
): PlanPart<Pick<RegisterFacts, 'goneLog' | 'forked'>> {
  const gone = yield* goneLog(rows, earlier)
  const forked = fork === undefined ? null : yield* rows.process(fork.pid)
  return { ...gone, ...(forked === null ? {} : { forked }) }
}

/** The agents above a new one, and those beside it. Each registration writes the parent's row, so none is overlooked. */
function* delegationFacts(
  rows: WorkingRows,
  parent: ProcessRow,
  gone: ReadonlySet<Pid | undefined>,
): PlanPart<Pick<RegisterFacts, 'delegation'>> {
  const above: ProcessRecord[] = []
  for (let row: ProcessRow | null = parent; row !== null; ) {
    const { record }: ProcessRow = row
    if (record.kind === 'agent') above.push(record)
    row = record.parent === null ? null : yield* rows.process(record.parent)
  }
  // Agents below a tool or a workflow are counted there.
  if (parent.record.kind !== 'agent') return {}
  const { pid } = parent.record
  const most = childrenOf(parent.record)
  const limit = most + 1 + gone.size
  const live = yield* know({
    ask: 'processes',
    filter: { parent: [pid], kind: ['agent'] },
    after: null,
    limit,
  })
  const ofThisPlan = rows.changes.filter(
    (change) =>
      change.type === 'process' &&
      change.was === null &&
      change.row.record.parent === pid &&
      change.row.record.kind === 'agent',
  )
  const others = live.items.filter(({ record }) => !gone.has(record.pid))
  return { delegation: { above, live: others.length + ofThisPlan.length } }
}

/**
 * The actor for which a kernel starts a process again whose parent takes no more children: an approval lets a command run once, and
 * not as often as its policy wants. Null if the host or a person started it.
 */
function* actorOfRestart(rows: WorkingRows, old: ProcessRecord, { session }: Owner): PlanPart<Actor | null> {
  const before = old.actsFor ?? (old.parent === null ? null : (`process:${old.parent}` as const))
  const above = before?.startsWith('process:') ? yield* rows.process(before.slice('process:'.length)) : null
  // A process that has moved to another session since is bound by the rules of that one.
  if (session !== undefined && above?.record.owner.session !== session) return `session:${session}`
  if (before !== null) return before
  return old.originator.startsWith('process:') ? old.originator : null
}

const NONE_GONE: ReadonlySet<Pid | undefined> = new Set()

const NO_TOOLS = KINDS.filter((kind) => kind !== 'tool')

/** Counted only under a limit, and without tools, which are calls, and the jobs of its memory. Each registration writes the parent's row, so no child is overlooked. */
function* liveChildrenOf(
  rows: WorkingRows,
  parent: ProcessRow,
  gone: ReadonlySet<Pid | undefined>,
): PlanPart<number> {
  const most = parent.record.limits.liveChildren
  if (most === undefined) return 0
  const { pid } = parent.record
  const live = yield* know({
    ask: 'processes',
    filter: { parent: [pid], kind: NO_TOOLS },
    after: null,
    limit: most + 1 + gone.size + MAX_LIVE_JOBS,
  })
  const ofThisPlan = rows.changes.filter(
    (change) =>
      change.type === 'process' &&
      change.was === null &&
      change.row.record.parent === pid &&
      change.row.record.kind !== 'tool' &&
      !isMemoryJob(change.row.record),
  )
  const others = live.items.filter(({ record }) => !gone.has(record.pid) && !isMemoryJob(record))
  return others.length + ofThisPlan.length
}

function* unusableSession(request: RegistrationRequest): PlanPart<string | null> {
  const named = (request.grants ?? []).map(({ session }) => session)
  if (request.wakeTarget !== undefined) named.push(request.wakeTarget)
  for (const id of new Set(named)) {
    const session = yield* know({ ask: 'session', id })
    if (session === null || session.endedAt !== null) return id
  }
  return null
}

/**
 * Seeing a far ancestor's stop early is a courtesy. The guarantee is the parent's own row, which this
 * registration writes: once the stop has been carried to the parent, no child is registered under it any more.
 */
function* stoppingAncestor(
  rows: WorkingRows,
  parent: ProcessRow,
  gone: ReadonlySet<Pid | undefined>,
): PlanPart<ProcessRow | null> {
  for (let row: ProcessRow | null = parent; row !== null; ) {
    const { pid } = row.record
    if (!takesChildren(row.record) || gone.has(pid)) return row
    if (row.record.parent === null) return null
    row = yield* rows.process(row.record.parent)
  }
  return null
}

const NAMED_PAGE = 100

/** The live process that has the requested name in the owner's scope, if the request asks about one. */
function* runningAs(
  rows: WorkingRows,
  { name, ifRunning }: RegistrationRequest,
  owner: Owner,
): PlanPart<ProcessRow | null> {
  if (name === undefined || ifRunning === undefined) return null
  // Read before the processes: a registration between the two reads changes this row.
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

/** The change that makes two registrations that depend on one name conflict, so that the later is decided again. */
export function* guardOfName(owner: Owner): PlanPart<Change> {
  const scope = nameGuardOf(owner)
  const was = yield* know({ ask: 'inbox', scope })
  return { type: 'inbox', was, inbox: was ?? emptyInbox(scope) }
}
