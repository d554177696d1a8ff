import type { Right } from '../core/authority/authorize.ts'
import { groupKeyOf } from '../core/group/group.ts'
import { emptyInbox } from '../core/inbox/inbox.ts'
import { listenerOf, tellsOf } from '../core/inbox/notice.ts'
import { decide } from '../core/process/decide.ts'
import { decideAwaitedEnd } from '../core/process/decide-wait.ts'
import type { StoredEvent } from '../core/process/event.ts'
import { fold } from '../core/process/fold.ts'
import { type Intent, replayKeyOf } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { refuseScope } from '../core/process/refuse-scope.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know, type Plan, type Question } from '../store/contract.ts'
import { countUse, giveBack } from './allowances.ts'
import type { Edges } from './edges.ts'
import { releaseDue } from './overflow.ts'
import { WorkingRows } from './working-rows.ts'

/** What became of one intent. */
export type Performed = Done | { readonly type: 'refused'; readonly refusal: Refusal }

export type Done =
  | { readonly type: 'appended'; readonly row: ProcessRow }
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
export function performEach(edges: Edges, intents: readonly Intent[]): Promise<Performed[]> {
  return edges.store.write(function* () {
    const rows = new WorkingRows()
    const performed: Performed[] = []
    for (const intent of intents) performed.push(yield* performOne(edges, rows, intent))
    return { answer: performed, changes: rows.changes }
  })
}

/** All of them or none: the first refusal refuses all. */
export function performAll(edges: Edges, intents: readonly Intent[]): Promise<Done[] | Refusal> {
  const plan: Plan<Done[] | Refusal> = function* () {
    const rows = new WorkingRows()
    const performed: Done[] = []
    for (const intent of intents) {
      const one = yield* performOne(edges, rows, intent)
      if (one.type === 'refused') return { answer: one.refusal, changes: [] }
      performed.push(one)
    }
    return { answer: performed, changes: rows.changes }
  }
  return edges.store.write(plan)
}

export function* performOne(
  edges: Edges,
  rows: WorkingRows,
  asked: Intent,
): Generator<readonly Question[], Performed, readonly unknown[]> {
  // Asked in place rather than through `rows.process`: this is the path of every event, and a generator more is felt.
  const { pid } = asked
  const known = rows.known(pid)
  const row =
    known === undefined
      ? rows.learned(pid, ((yield [{ ask: 'process', pid }]) as [ProcessRow | null])[0])
      : known
  if (row === null) return { type: 'refused', refusal: yield* unknownPid(pid) }
  // A clock that jumped back must not make a process end before it began.
  const intent = asked.at < row.record.updatedAt ? { ...asked, at: row.record.updatedAt } : asked
  const denied = edges.authorize(intent.actor, rightFor(intent), { type: 'process', record: row.record })
  if (denied !== undefined) return { type: 'refused', refusal: denied }
  const scopeless = intent.type === 'changeOwner' ? yield* refuseOwner(edges, row, intent) : undefined
  if (scopeless !== undefined) return { type: 'refused', refusal: scopeless }
  const replayKey = replayKeyToAsk(row, intent)
  const replayed = replayKey === null ? null : yield* rows.replayed(intent.pid, replayKey)
  const listener = intent.type === 'match' ? listenerOf(row.record) : null
  const due = listener === null ? null : yield* releaseDue(rows, listener, intent.at)
  const was = due?.inbox ?? null
  const overflow = was === null ? {} : { overflow: was.overflow }
  const isAsked =
    intent.type === 'enter_wait' && intent.wait.on === 'approval' ? yield* wasAsked(row, intent) : false
  const decision = decide({ row, replayed, isAsked, ...overflow }, intent, edges.rules)
  switch (decision.type) {
    case 'refuse':
      return { type: 'refused', refusal: decision.refusal }
    case 'replay':
      return { type: 'replayed', row, event: decision.event }
    case 'keep':
      return { type: 'kept', row }
    case 'append': {
      const group = row.record.group === null ? null : yield* rows.group(groupKeyOf(row.record.group))
      const folded = fold({
        pid: intent.pid,
        was: row,
        group,
        events: decision.events,
        lease: decision.lease,
        actor: intent.actor,
        at: intent.at,
      })
      if (due !== null) rows.add(due.changes)
      rows.add(folded.changes)
      const { record } = folded.row
      if (record.awaitedBy.length > 0 && hasEnded(record) && !hasEnded(row.record))
        yield* tellAwaiting(rows, record, intent)
      const hasUse = record.limits.allowance !== undefined || record.kind === 'command'
      if (hasUse && hasEnded(record) && !hasEnded(row.record))
        yield* record.limits.allowance === undefined ? countUse(rows, record) : giveBack(rows, record)
      if (decision.overflow !== undefined && listener !== null)
        rows.add([
          { type: 'inbox', was, inbox: { ...(was ?? emptyInbox(listener)), overflow: decision.overflow } },
        ])
      return { type: 'appended', row: folded.row }
    }
  }
}

/** Those that are parked until this one ends go on: in the transaction of its end, so that none is forgotten. */
function* tellAwaiting(
  rows: WorkingRows,
  ended: ProcessRecord,
  { at, actor }: Intent,
): Generator<readonly Question[], void, readonly unknown[]> {
  for (const pid of ended.awaitedBy) {
    const was = yield* rows.process(pid)
    if (was === null || hasEnded(was.record)) continue
    const events = decideAwaitedEnd(was.record, ended)
    if (events.length === 0) continue
    rows.add(fold({ pid, was, group: null, events, lease: undefined, actor, at }).changes)
  }
}

const ABOUT_ONE = 1_000

/** Whether an approval that is waited for again was told of by the holder before. */
function* wasAsked(
  { record, fence }: ProcessRow,
  { wait }: Extract<Intent, { type: 'enter_wait' }>,
): Generator<readonly Question[], boolean, readonly unknown[]> {
  const scope = listenerOf(record)
  // Who holds it first is the first to wait.
  if (scope === null || fence < 2) return false
  const about = { ...{ after: 0, limit: ABOUT_ONE, newest: true }, ...{ scope, pid: record.pid } }
  const told = yield* know({ ask: 'notices', ...about })
  return told.some(({ kind, payload }) => kind === 'approval' && tellsOf(payload, wait))
}

/** Whoever it moves to must be there to answer for it, and be the mover's to give it to. */
function* refuseOwner(
  edges: Edges,
  { record }: ProcessRow,
  { owner, actor }: Extract<Intent, { type: 'changeOwner' }>,
): Generator<readonly Question[], Refusal | undefined, readonly unknown[]> {
  const { session, turn } = owner
  const denied =
    session === undefined ? undefined : edges.authorize(actor, 'write', { type: 'session', id: session })
  if (denied !== undefined) return denied
  const facts = {
    session: session === undefined ? null : yield* know({ ask: 'session', id: session }),
    turn:
      session === undefined || turn === undefined ? null : yield* know({ ask: 'turn', session, id: turn }),
    unusableSession: null,
  }
  return refuseScope(facts, { ...record, owner })
}

/** A live process has no end event yet, and no step beyond its last: these need not be looked for, and the commonest writes ask one question. */
function replayKeyToAsk(row: ProcessRow, intent: Intent): string | null {
  if (intent.type === 'end' && !hasEnded(row.record)) return null
  if (intent.type === 'end_step' && intent.step.place > (row.record.journal?.last ?? 0)) return null
  return replayKeyOf(intent)
}

export function* unknownPid(pid: Pid): Generator<readonly Question[], Refusal, readonly unknown[]> {
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

function rightFor(intent: Intent): Right {
  switch (intent.type) {
    case 'stop':
    case 'pause':
    case 'resume':
    case 'signal':
      return 'signal'
    case 'changeOwner':
    case 'change_cwd':
    case 'set_external_ref':
    case 'request_abandon':
      return 'write'
    case 'start':
    case 'program_started':
    case 'match':
    case 'disable_watch':
    case 'settle_readiness':
    case 'beat':
    case 'end':
    case 'append':
    case 'enter_wait':
    case 'leave_wait':
    case 'end_step':
    case 'retry_step':
    case 'park':
    case 'give_up_stop':
      return 'execute'
    case 'await_end':
      return 'read'
    case 'answer':
    case 'near_limit':
    case 'confirm_stop':
    case 'clear_wake_target':
    case 'reveal':
    case 'put_back':
    case 'abandon':
    case 'give_up':
    case 'settle_stop':
    case 'take_over':
    case 'release':
      return 'admin'
  }
}
