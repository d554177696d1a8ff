import { withNotice } from '../core/agent/from-outside.ts'
import type { AgentAnswer } from '../core/agent/request.ts'
import { agentOfScope, toldNotice } from '../core/agent/told-notice.ts'
import { modelLimitUsedUp } from '../core/allowance/model-limits.ts'
import { isPending } from '../core/approval/approval.ts'
import { withdrawn } from '../core/approval/decide-answer.ts'
import { type Act, denialEntry, isDenial } from '../core/audit/denial.ts'
import { rightFor } from '../core/authority/right-for.ts'
import { binds } from '../core/capability/rule-set.ts'
import type { Change } from '../core/change.ts'
import { groupKeyOf } from '../core/group/group.ts'
import { emptyInbox } from '../core/inbox/inbox.ts'
import { tellsOf } from '../core/inbox/notice.ts'
import { decide } from '../core/process/decide.ts'
import { decideAwaitedEnd } from '../core/process/decide-wait.ts'
import { decideAwaitEnd } from '../core/process/decide-workflow.ts'
import type { StoredEvent } from '../core/process/event.ts'
import { endDuties, factsNeeded } from '../core/process/facts-needed.ts'
import { fold } from '../core/process/fold.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type Owner, type ProcessRecord, type Scope } from '../core/process/record.ts'
import { refuseScope } from '../core/process/refuse-scope.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { sessionsOf } from '../core/session/sessions-above.ts'
import { know, type Plan } from '../store/contract.ts'
import { countUse, giveBack } from './allowances.ts'
import { withdrawnEntry } from './approval-entries.ts'
import { PlannedAudit, refusalChanges } from './audit.ts'
import { refuseSignal } from './beyond-ownership.ts'
import { endDelivered } from './deliveries.ts'
import type { Edges } from './edges.ts'
import { consumeMessage, firstMessage, messageFacts, refuseRoute } from './message-facts.ts'
import { endOccurrence } from './occurrences.ts'
import { releaseDue } from './overflow.ts'
import { giveBackPaths } from './path-liens.ts'
import type { PlanPart } from './plan-part.ts'
import { reportToParent } from './report-to-parent.ts'
import { settleReview, stopReview } from './review.ts'
import { giveBackUses } from './rule-uses.ts'
import { settleSoftLimit, withdrawSoftLimit } from './settle-soft-limit.ts'
import { WorkingRows } from './working-rows.ts'

/** The answer to one intent. */
export type Performed = Done | { readonly type: 'refused'; readonly refusal: Refusal }

export type Done =
  /** `answer`: to a request to an agent. */
  | { readonly type: 'appended'; readonly row: ProcessRow; readonly answer?: AgentAnswer }
  | { readonly type: 'replayed'; readonly row: ProcessRow; readonly event: StoredEvent }
  | { readonly type: 'kept'; readonly row: ProcessRow }

/**
 * The one write path: load facts, decide, fold, append. Every change of a registered process comes through here;
 * registration, which has no process yet, takes the same steps in `register.ts`.
 */
export async function perform(edges: Edges, intent: Intent): Promise<Performed> {
  const [performed] = await performEach(edges, [intent])
  if (performed === undefined) throw new Error('An intent without an answer')
  return performed
}

/** Several intents in one transaction, each with its own answer; a refused one changes nothing, and the rest go on. */
export async function performEach(edges: Edges, intents: readonly Intent[]): Promise<Performed[]> {
  const answers = await edges.store.write<Performed[]>(function* () {
    const rows = new WorkingRows()
    const performed: Performed[] = []
    for (const intent of intents) performed.push(yield* performOne(edges, rows, intent))
    if (!performed.some(isDenied)) return { answer: performed, changes: rows.changes }
    const audit = new PlannedAudit(edges)
    for (const [index, intent] of intents.entries()) {
      const one = performed[index]
      if (one !== undefined && isDenied(one)) yield* audit.deny(denialEntry(one.refusal, actOf(intent)))
    }
    return { answer: performed, changes: [...rows.changes, ...audit.changes] }
  })
  if (answers.some(isDenied)) edges.onAudited?.()
  return answers
}

function isDenied(performed: Performed): performed is Extract<Performed, { type: 'refused' }> {
  return performed.type === 'refused' && isDenial(performed.refusal)
}

/** An intent, as the audit names it. */
function actOf(intent: Intent): Act {
  const { type, actor, at, pid } = intent
  return { at, actor, action: type, target: type === 'message' ? intent.to : `process:${pid}` }
}

/** All of them or none: the first refusal refuses all. */
export function performAll(edges: Edges, intents: readonly Intent[]): Promise<Done[] | Refusal> {
  const plan: Plan<Done[] | Refusal> = function* () {
    const rows = new WorkingRows()
    const performed: Done[] = []
    for (const intent of intents) {
      const one = yield* performOne(edges, rows, intent)
      if (one.type === 'refused') {
        const { refusal } = one
        return { answer: refusal, changes: yield* refusalChanges(edges, refusal, actOf(intent)) }
      }
      performed.push(one)
    }
    return { answer: performed, changes: rows.changes }
  }
  return edges.store.write(plan)
}

export function* performOne(edges: Edges, rows: WorkingRows, asked: Intent): PlanPart<Performed> {
  // Asked in place rather than through `rows.process`: every event takes this path, and one more generator is measurable.
  const { pid } = asked
  const known = rows.known(pid)
  const row =
    known === undefined
      ? rows.learned(pid, ((yield [{ ask: 'process', pid }]) as [ProcessRow | null])[0])
      : known
  if (row === null) return { type: 'refused', refusal: yield* unknownPid(pid) }
  // A clock that jumped back must not make a process end before it began.
  const intent = asked.at < row.record.updatedAt ? { ...asked, at: row.record.updatedAt } : asked
  const denied =
    intent.type === 'message'
      ? yield* refuseRoute(edges, rows, row.record, intent)
      : yield* refuseAct(edges, rows, row.record, intent)
  if (denied !== undefined) return { type: 'refused', refusal: denied }
  const needed = factsNeeded(row, intent)
  const moved =
    needed.newOwner === null ? NO_FACTS : yield* newOwnerFacts(edges, row, needed.newOwner, intent.actor)
  if (isRefusal(moved)) return { type: 'refused', refusal: moved }
  const replayed = needed.replayKey === null ? null : yield* rows.replayed(intent.pid, needed.replayKey)
  const listener = needed.overflowOf
  const due = listener === null ? null : yield* releaseDue(rows, listener, intent.at)
  const was = due?.inbox ?? null
  const overflow = was === null ? NO_FACTS : { overflow: was.overflow }
  const isAsked =
    intent.type === 'enter_wait' && needed.approvalsOf !== null
      ? yield* wasAsked(intent.pid, needed.approvalsOf, intent)
      : false
  const messages = needed.messagesOf
  const readFrom = messages === null ? null : yield* rows.inbox(messages)
  const waiting =
    messages === null || replayed !== null || intent.type !== 'enter_wait'
      ? null
      : yield* firstMessage(messages, intent.wait.filter ?? {})
  const message =
    intent.type === 'message' && replayed === null
      ? { message: yield* messageFacts(rows, row.record, intent) }
      : NO_FACTS
  const limited =
    needed.account === null ? NO_FACTS : { usedUp: modelLimitUsedUp(yield* rows.account(needed.account)) }
  const usual = { row, replayed, isAsked, waitingMessage: waiting?.seq ?? null }
  const hasMore = [overflow, message, moved, limited].some((facts) => facts !== NO_FACTS)
  const facts = hasMore ? { ...usual, ...overflow, ...message, ...moved, ...limited } : usual
  const decision = decide(facts, intent, edges.rules)
  switch (decision.type) {
    case 'refuse':
      return { type: 'refused', refusal: decision.refusal }
    case 'replay':
      return { type: 'replayed', row, event: decision.event }
    case 'keep':
      return { type: 'kept', row }
    case 'append': {
      const group = row.record.group === null ? null : yield* rows.group(groupKeyOf(row.record.group))
      const folding = {
        pid: intent.pid,
        was: row,
        group,
        events: decision.events,
        lease: decision.lease,
        actor: intent.actor,
        at: intent.at,
      }
      const first = fold(folding)
      const duties = endDuties(row.record, first.row.record)
      const parent = duties.parent === null ? null : yield* rows.process(duties.parent)
      const folded = parent === null ? first : fold({ ...folding, parent: parent.record })
      if (due !== null) rows.add(due.changes)
      rows.add(folded.changes)
      if (waiting !== null) consumeMessage(rows, readFrom, waiting)
      const { record } = folded.row
      if (intent.type === 'enter_wait') yield* markAwaited(rows, intent)
      if (duties.awaitedBy.length > 0) yield* tellAwaiting(rows, record, intent)
      yield* tellAgents(edges, rows, folded, intent)
      if (duties.account === 'give_back') yield* giveBack(rows, record)
      if (duties.account === 'count_use') yield* countUse(rows, record)
      if (duties.withdraws !== null) yield* withdraw(edges, rows, duties.withdraws, record, intent)
      if (duties.pathsOn !== null) yield* giveBackPaths(rows, duties.pathsOn, record.pid)
      if (duties.schedule !== null) yield* endOccurrence({ edges, rows, performOne }, record, intent.at)
      if (duties.trigger !== null) yield* endDelivered({ edges, rows, performOne }, record, intent.at)
      if (row.record.agent !== null && record.parent !== null)
        yield* reportToParent(rows, row, record, decision.events, intent, edges.rules.mask)
      if (duties.isReview) yield* settleReview(edges, rows, performOne, record, intent.at)
      if (duties.isSoftLimit) yield* settleSoftLimit(edges, rows, performOne, record, intent.at)
      if (row.record.status === 'paused' && record.status !== 'paused' && record.agent !== null)
        yield* withdrawSoftLimit(edges, rows, performOne, record, intent.at)
      if (decision.overflow !== undefined && listener !== null)
        rows.add([
          { type: 'inbox', was, inbox: { ...(was ?? emptyInbox(listener)), overflow: decision.overflow } },
        ])
      const { answer } = decision
      return answer === undefined
        ? { type: 'appended', row: folded.row }
        : { type: 'appended', row: folded.row, answer }
    }
  }
}

/** Ownership decides, and a capability may widen it: one that names another's process lets an actor stop, pause or signal it. */
function* refuseAct(
  edges: Edges,
  rows: WorkingRows,
  record: ProcessRecord,
  intent: Intent,
): PlanPart<Refusal | undefined> {
  const denied = edges.authorize(intent.actor, rightFor(intent), { type: 'process', record })
  if (denied === undefined || !isLifecycle(intent)) return denied
  return yield* refuseSignal(edges, rows, record, intent, denied)
}

function isLifecycle({ type }: Intent): boolean {
  return type === 'stop' || type === 'pause' || type === 'resume' || type === 'signal'
}

/** Most intents do not need the rarer facts. */
const NO_FACTS = {}

/** In the transaction of the end, so that no person answers for a process that is gone. */
function* withdraw(
  edges: Edges,
  rows: WorkingRows,
  id: string,
  { outcome }: ProcessRecord,
  { actor: by, at }: Intent,
): PlanPart<void> {
  // This plan may have asked, or settled it.
  const planned = rows.changes.findLast(
    (change): change is Extract<Change, { type: 'approval' }> =>
      change.type === 'approval' && change.approval.id === id,
  )
  const was = planned?.approval ?? (yield* know({ ask: 'approval', id }))
  if (was === null || !isPending(was)) return
  rows.add([
    { type: 'approval', was, approval: withdrawn(was) },
    { type: 'audit', entry: withdrawnEntry(was, { at, by, outcome }) },
  ])
  yield* giveBackUses(rows, was)
  yield* stopReview(edges, rows, performOne, was, at)
}

/**
 * A child whose parent waits for it has that in its record. So its end needs no search for waiting processes, and costs no
 * question if there is none.
 */
function* markAwaited(
  rows: WorkingRows,
  { pid: by, wait, actor, at }: Extract<Intent, { type: 'enter_wait' }>,
): PlanPart<void> {
  if (wait.on !== 'child') return
  const was = yield* rows.process(wait.name)
  if (was === null || was.record.parent !== by) return
  const { pid } = was.record
  const decision = decideAwaitEnd(was, { type: 'await_end', pid, by, actor, at })
  if (decision.type !== 'append') return
  const { events } = decision
  rows.add(fold({ pid, was, group: null, events, lease: undefined, actor, at }).changes)
}

/** Processes that wait for this one get its outcome in the transaction of its end. Parked ones are never forgotten that way. */
function* tellAwaiting(rows: WorkingRows, ended: ProcessRecord, { at, actor }: Intent): PlanPart<void> {
  for (const pid of ended.awaitedBy) {
    const was = yield* rows.process(pid)
    if (was === null || hasEnded(was.record)) continue
    const events = decideAwaitedEnd(was, ended, { actor, at })
    if (events.length === 0) continue
    rows.add(fold({ pid, was, group: null, events, lease: undefined, actor, at }).changes)
  }
}

/** A notice for the session of an agent is also one for the agent, in the same transaction: none is lost. */
function* tellAgents(
  { rules }: Edges,
  rows: WorkingRows,
  { row, changes }: ReturnType<typeof fold>,
  { actor, at }: Intent,
): PlanPart<void> {
  for (const change of changes) {
    if (change.type !== 'notice' || agentOfScope(change.notice.scope) === null) continue
    const { parent } = row.record
    const above = parent === null ? null : yield* rows.process(parent)
    const told = toldNotice(change.notice, row.record, above?.record ?? null, rules.mask)
    if (told === null) continue
    const { agent: pid, ...notice } = told
    const was = yield* rows.process(pid)
    if (was === null || hasEnded(was.record)) continue
    const events = withNotice(was, [], notice, { actor, at })
    rows.add(fold({ pid, was, group: null, events, lease: undefined, actor, at }).changes)
  }
}

const MAX_NOTICES_OF_PROCESS = 1_000

/** Whether an earlier holder has asked this scope for the approval. */
function* wasAsked(
  pid: Pid,
  scope: Scope,
  { wait }: Extract<Intent, { type: 'enter_wait' }>,
): PlanPart<boolean> {
  const told = yield* know({
    ask: 'notices',
    scope,
    pid,
    after: 0,
    limit: MAX_NOTICES_OF_PROCESS,
    newest: true,
  })
  return told.some(({ kind, payload }) => kind === 'approval' && tellsOf(payload, wait))
}

/** The new owner must exist to be responsible for the process, and the actor must be allowed to give it a process. */
function* newOwnerFacts(
  edges: Edges,
  { record }: ProcessRow,
  owner: Owner,
  actor: Actor,
): PlanPart<Refusal | { readonly sessionsAbove?: readonly string[] }> {
  const { session, turn } = owner
  const found = session === undefined ? null : yield* know({ ask: 'session', id: session })
  const above = found?.sessionsAbove === undefined ? {} : { sessionsAbove: found.sessionsAbove }
  const denied =
    session === undefined
      ? yield* refuseToLeave(edges, record, actor)
      : edges.authorize(actor, 'write', { type: 'session', id: session, ...above })
  if (denied !== undefined) return denied
  const facts = {
    session: found,
    turn:
      session === undefined || turn === undefined ? null : yield* know({ ask: 'turn', session, id: turn }),
    unusableSession: null,
  }
  return refuseScope(facts, { ...record, owner }) ?? above
}

/** Outside of its session a process would escape the rules of that session, and of those above it. */
function* refuseToLeave(edges: Edges, record: ProcessRecord, actor: Actor): PlanPart<Refusal | undefined> {
  for (const id of sessionsOf(record)) {
    const isRuled = binds(yield* know({ ask: 'ruleSet', subject: `session:${id}` }))
    const denied = isRuled ? edges.authorize(actor, 'admin', { type: 'session', id }) : undefined
    if (denied !== undefined) return denied
  }
  return undefined
}

export function* unknownPid(pid: Pid): PlanPart<Refusal> {
  const tombstone = yield* know({ ask: 'tombstone', pid })
  if (tombstone !== null) return prunedPid(pid)
  return refusal('unknown_pid', `There is no process ${pid}.`, 'List the processes to see which there are.')
}

export function prunedPid(pid: Pid): Refusal {
  return refusal(
    'pruned_pid',
    `${pid} ended and has been pruned.`,
    'Its record and events are gone; keep more of them with the prune options.',
  )
}
