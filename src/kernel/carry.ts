import { isOfClosedCall } from '../core/agent/closed-calls.ts'
import { deletedSessionAccount, sessionAccountOf } from '../core/allowance/account.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import type { Change } from '../core/change.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type Lifetime, type StopHow } from '../core/process/record.ts'
import { carryOf, childCarryOf, hooksFromOf, type ProcessRow } from '../core/process/row.ts'
import { decideDeleteSession, decideEndSession, type Session, type Turn } from '../core/session/session.ts'
import { know, type Page } from '../store/contract.ts'
import { giveBackOfSession } from './allowances.ts'
import type { Edges } from './edges.ts'
import { performEach } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { WorkingRows } from './working-rows.ts'

const PAGE = 200
/** A stop of the whole tree leaves these alone: they are meant to survive their parent. */
const SURVIVES_STOP: readonly Lifetime[] = ['daemon', 'detached']

/**
 * Carries a stop, or an end, to the children it concerns, in pages. The request is a mark on the process's row. It is written
 * with the stop or the end itself, and removed when every child has been stopped: after a crash in between the next sweep
 * goes on. Children that have children get marks of their own; the answer names them.
 */
export async function carryToChildren(edges: Edges, self: string, pid: Pid): Promise<Pid[]> {
  const row = await edges.store.ask({ ask: 'process', pid })
  const carry = childCarryOf(row?.carry ?? null)
  if (row === null || carry === null) return []
  if (carry === 'calls') return interruptClosedCalls(edges, self, row)
  const { stopRequest } = row.record
  const stop = carry === 'stop' && stopRequest !== null
  const stopping: Stopping = {
    concerns: ({ record }) =>
      stop ? !SURVIVES_STOP.includes(record.lifetime) : record.lifetime === 'parent',
    how: stop ? stopRequest.how : 'cancel',
    reason: stop ? `${stopRequest.reason} (stopped with ${pid})` : `lifetime: its parent ${pid} has ended`,
    cause: pid,
    ...(stop && stopRequest.graceMs !== undefined ? { graceMs: stopRequest.graceMs } : {}),
  }
  const marked: Pid[] = []
  // A child that has ended may have live children of its own: the stop of a tree passes through it.
  const parents = [pid]
  for (const parent of parents) {
    const children = stop ? { parent: [parent], status: 'any' as const } : { parent: [parent] }
    const stops = await stopEach(edges, self, children, stopping)
    marked.push(...stops.marked)
    parents.push(...stops.passedThrough)
  }
  await unmark(edges, row)
  return marked
}

/**
 * Interrupts what the closed tool calls of an agent started. A call whose process has ended left only what may outlive it, such as a
 * command in the background.
 */
async function interruptClosedCalls(edges: Edges, self: string, row: ProcessRow): Promise<Pid[]> {
  const { pid } = row.record
  const calls = await listAll(edges, { parent: [pid], kind: ['tool'] })
  const closed = calls.filter(({ record }) => isOfClosedCall(row.record, record))
  const names = closed.flatMap(({ record }) => record.owner.toolCall ?? [])
  const interrupting = {
    concerns: () => true,
    how: 'interrupt',
    reason: closedCallReason(pid),
    cause: pid,
  } as const
  const marked: Pid[] = []
  for (const toolCall of new Set(names))
    marked.push(...(await stopEach(edges, self, { owner: { toolCall: [toolCall] } }, interrupting)).marked)
  await unmark(edges, row)
  return marked
}

export function closedCallReason(agent: Pid): string {
  return `tool call of ${agent} closed`
}

export interface ScopeStops {
  readonly stopped: Pid[]
  /** Live processes that have children to carry it on to. */
  readonly marked: Pid[]
  /** Ended processes that had children. */
  readonly passedThrough: Pid[]
}

/** Carries the end of a session or a turn to the processes whose lifetime it is. */
export function carrySession(edges: Edges, self: string, session: Session): Promise<ScopeStops> {
  return stopEach(
    edges,
    self,
    { owner: { session: [session.id] } },
    {
      concerns: ({ record }) => record.lifetime === 'session' || record.lifetime === 'turn',
      how: 'cancel',
      reason: `lifetime: session ${session.id} has ended`,
      cause: null,
    },
  )
}

/**
 * Ends a page of the sessions below one that has ended, or deletes those below one that is deleted. Each gets a mark of its own.
 * The answer has the sessions whose end is still to be carried, and where the next page continues.
 */
export async function carryToSessionsBelow(
  edges: Edges,
  session: Session,
  after: string | null,
): Promise<{ readonly marked: readonly Session[]; readonly next: string | null }> {
  const page = await edges.store.ask({ ask: 'sessions', parent: session.id, after, limit: PAGE })
  if (page.length === 0) return { marked: [], next: null }
  const at = edges.clock.now()
  const decide = session.deleted ? decideDeleteSession : decideEndSession
  const marked = await edges.store.write(function* () {
    const found = (yield page.map(({ id }) => ({ ask: 'session', id }) as const)) as (Session | null)[]
    const decided = page.map(({ id }, index) => {
      const was = found[index] ?? null
      return { was, decision: decide(was, id, at) }
    })
    return {
      // One that is gone was deleted meanwhile.
      answer: decided.flatMap(({ decision }) =>
        decision.type !== 'refuse' && decision.value.carry ? [decision.value] : [],
      ),
      changes: decided.flatMap(({ was, decision }): Change[] =>
        decision.type === 'put' ? [{ type: 'session', was, session: decision.value }] : [],
      ),
    }
  })
  return { marked, next: page.length < PAGE ? null : (page.at(-1)?.id ?? null) }
}

/** The session's end has reached every process. A deleted session is removed, with its turns. */
export function sessionCarried(edges: Edges, id: string): Promise<void> {
  return edges.store.write(function* () {
    const known = yield* know({ ask: 'session', id })
    if (known === null || !known.carry) return { answer: undefined, changes: [] }
    const rows = new WorkingRows()
    yield* giveBackOfSession(rows, known)
    if (!known.deleted) {
      const session = { ...known, carry: false }
      return { answer: undefined, changes: [...rows.changes, { type: 'session', was: known, session }] }
    }
    const account = yield* know({ ask: 'account', id: sessionAccountOf(known) })
    const gone = account === null ? [] : [{ type: 'account_gone', id: account.id } as const]
    const left = known.allowance === undefined ? [] : yield* leftByAllowance(id, known.allowance)
    return { answer: undefined, changes: [...rows.changes, ...gone, ...left, { type: 'session_gone', id }] }
  })
}

function* leftByAllowance(id: string, allowance: Amounts): PlanPart<Change[]> {
  const account = deletedSessionAccount(id, allowance)
  const was = yield* know({ ask: 'account', id: account.id })
  return [{ type: 'account', was, account }]
}

export async function carryTurn(edges: Edges, self: string, turn: Turn): Promise<ScopeStops> {
  const stops = await stopEach(
    edges,
    self,
    { owner: { session: [turn.session], turn: [turn.id] } },
    {
      concerns: ({ record }) => record.lifetime === 'turn',
      how: 'cancel',
      reason: `lifetime: turn ${turn.id} has ended`,
      cause: null,
    },
  )
  await edges.store.write(function* () {
    const known = yield* know({ ask: 'turn', session: turn.session, id: turn.id })
    if (known === null || !known.carry) return { answer: undefined, changes: [] }
    return { answer: undefined, changes: [{ type: 'turn', was: known, turn: { ...known, carry: false } }] }
  })
  return stops
}

interface Stopping {
  readonly concerns: (row: ProcessRow) => boolean
  readonly how: StopHow
  readonly reason: string
  readonly cause: Pid | null
  readonly graceMs?: number
}

async function stopEach(
  edges: Edges,
  self: string,
  filter: Filter,
  { concerns, ...stop }: Stopping,
): Promise<ScopeStops> {
  const stops: ScopeStops = { stopped: [], marked: [], passedThrough: [] }
  let after: number | null = null
  do {
    const page: { items: readonly ProcessRow[]; next: number | null } = await edges.store.ask({
      ask: 'processes',
      filter,
      after,
      limit: PAGE,
    })
    const concerned = page.items.filter(concerns)
    const passed = concerned.filter(({ record }) => hasEnded(record) && record.children > 0)
    stops.passedThrough.push(...passed.map(({ record }) => record.pid))
    const at = edges.clock.now()
    const intents = concerned
      .filter((row) => !hasEnded(row.record))
      .map(({ record: { pid } }) => {
        const replayKey = `carry:${stop.cause ?? stop.reason}:${stop.how}`
        return { type: 'stop', pid, actor: `kernel:${self}`, at, ...stop, replayKey } as const
      })
    const performed = intents.length === 0 ? [] : await performEach(edges, intents)
    for (const one of performed) {
      if (one.type === 'refused') continue
      if (one.type === 'appended') stops.stopped.push(one.row.record.pid)
      if (one.row.carry !== null) stops.marked.push(one.row.record.pid)
    }
    after = page.next
  } while (after !== null)
  return stops
}

async function listAll(edges: Edges, filter: Filter): Promise<readonly ProcessRow[]> {
  const rows: ProcessRow[] = []
  let after: number | null = null
  do {
    const page: Page<ProcessRow> = await edges.store.ask({ ask: 'processes', filter, after, limit: PAGE })
    rows.push(...page.items)
    after = page.next
  } while (after !== null)
  return rows
}

/** Removes the mark, unless a stronger stop has arrived since, or another turn of an agent has ended. */
function unmark(edges: Edges, seen: ProcessRow): Promise<void> {
  return edges.store.write(function* () {
    const row = yield* know({ ask: 'process', pid: seen.record.pid })
    const carry = row?.carry ?? null
    const same =
      childCarryOf(carry) === childCarryOf(seen.carry) &&
      row?.record.stopRequest?.at === seen.record.stopRequest?.at
    if (row === null || !same || row.record.stopRequest?.how !== seen.record.stopRequest?.how)
      return { answer: undefined, changes: [] }
    const isSameTurn = row.record.agent?.turn?.number === seen.record.agent?.turn?.number
    if (!isSameTurn || row.record.agent?.turns !== seen.record.agent?.turns)
      return { answer: undefined, changes: [] }
    return {
      answer: undefined,
      changes: [
        { type: 'process', was: row, row: { ...row, carry: carryOf(null, hooksFromOf(carry)) }, events: [] },
      ],
    }
  })
}
