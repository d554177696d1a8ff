import {
  type Account,
  aboveOf,
  accountOf,
  newAccount,
  newSessionAccount,
  sessionAccountOf,
  sessionIn,
  spentOf,
} from '../core/allowance/account.ts'
import { type Amounts, isNothing } from '../core/allowance/amounts.ts'
import { book, type Carved, decideCarveForSession, receive, settle } from '../core/allowance/decide.ts'
import { usedByCommand } from '../core/allowance/used-by-command.ts'
import type { Change } from '../core/change.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Session } from '../core/session/session.ts'
import { know } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'
import { WorkingRows } from './working-rows.ts'

/**
 * The account that a new process's allowance is carved from: its parent's, or that of the session that pays. The record and the
 * session say whether there is one, so that a process without limits costs no question.
 */
export function* giverOf(
  rows: WorkingRows,
  parent: ProcessRow | null,
  session: Session | null,
): PlanPart<Account | null> {
  if (parent !== null)
    return parent.record.limits.allowance === undefined
      ? null
      : yield* rows.account(accountOf(parent.record.pid))
  return session?.allowance === undefined ? null : yield* rows.account(sessionAccountOf(session))
}

/** Otherwise a session would escape its allowance by opening a session below it. */
export function* payingSession(rows: WorkingRows, session: Session | null): PlanPart<Session | null> {
  if (session === null || session.allowance !== undefined) return session
  for (const id of session.sessionsAbove ?? []) {
    const above = yield* rows.session(id)
    if (above?.allowance !== undefined) return above
  }
  return session
}

/**
 * The account of a session that gets its first allowance. Below a session with an allowance it is a part of that one, and goes
 * back to it with the end of the session.
 */
export function* carveForSession(
  session: Session,
  allowance: Amounts,
): PlanPart<readonly Change[] | Refusal> {
  const rows = new WorkingRows()
  const fallback = newSessionAccount(session)
  const was = yield* rows.account(fallback.id)
  const { allowance: _, ...unlimitedSession } = session
  const payer = yield* payingSession(rows, unlimitedSession)
  const giver = payer?.allowance === undefined ? null : yield* rows.account(sessionAccountOf(payer))
  if (giver === null) {
    const account = { ...(was ?? fallback), given: allowance }
    return [{ type: 'account', was, account }]
  }
  const carved = decideCarveForSession(giver, allowance)
  if (carved.type === 'refuse') return carved.refusal
  const account = { ...(was ?? fallback), parent: giver.id, given: carved.given }
  return [
    { type: 'account', was: giver, account: carved.giver },
    { type: 'account', was, account },
  ]
}

/** With the end of a session: its unused allowance goes back to the session above that it was carved from. */
export function* giveBackOfSession(rows: WorkingRows, session: Session): PlanPart<void> {
  if (session.allowance === undefined) return
  const was = yield* rows.account(sessionAccountOf(session))
  if (was === null || was.settled || was.parent === null) return
  const giver = yield* rows.account(was.parent)
  if (giver !== null) yield* settleInto(rows, was, was, giver)
}

export function carvedChanges(
  was: Account | null,
  { parent, account }: Extract<Carved, { type: 'carved' }>,
): Change[] {
  return [
    ...(parent === null ? [] : [{ type: 'account', was, account: parent } as const]),
    ...(account === null ? [] : [{ type: 'account', was: null, account } as const]),
  ]
}

/**
 * In the transaction of the end: the unused allowance goes back to the account that it was carved from. If the process of
 * that account has ended, it goes on upward to the next account that is still open.
 */
export function* giveBack(rows: WorkingRows, record: ProcessRecord): PlanPart<void> {
  if (record.limits.allowance === undefined) return
  const was = yield* rows.account(accountOf(record.pid))
  // Settled already: its restart got the rest (`giveBackEarly`).
  if (was === null || was.settled) return
  const booked = book(was, usedByCommand(record.kind, record.outcome?.result)).account
  const parent = was.parent === null ? null : yield* rows.account(was.parent)
  if (parent === null) {
    rows.add([{ type: 'account', was, account: booked }])
    return
  }
  yield* settleInto(rows, was, booked, parent)
}

/**
 * Gives the unused allowance back before the end is written, so that the restart can have it. The program has ended, and
 * `used` is its usage. From here on the account takes no charge and gives nothing to children.
 */
export function* giveBackEarly(rows: WorkingRows, { pid, used }: RestartedProcess): PlanPart<void> {
  const was = yield* rows.account(accountOf(pid))
  if (was === null || was.settled || was.parent === null) return
  const parent = yield* rows.account(was.parent)
  if (parent !== null) yield* settleInto(rows, was, book(was, used).account, parent)
}

/** A process whose program has ended, and its usage. */
export interface RestartedProcess {
  readonly pid: Pid
  readonly used: Amounts
}

function* settleInto(rows: WorkingRows, was: Account, booked: Account, parent: Account): PlanPart<void> {
  const { account, returned } = settle(booked)
  rows.add([{ type: 'account', was, account }])
  for (let above: Account | null = parent; above !== null; ) {
    rows.add([{ type: 'account', was: above, account: receive(above, returned) }])
    above = above.settled && above.parent !== null ? yield* rows.account(above.parent) : null
  }
}

/** Counts the use of a command without an allowance, for the sums of its parent and its session. */
export function* countUse(rows: WorkingRows, record: ProcessRecord): PlanPart<void> {
  if (record.parent === null && record.owner.session === undefined) return
  const used = usedByCommand(record.kind, record.outcome?.result)
  if (isNothing(used)) return
  const was = yield* rows.account(accountOf(record.pid))
  const { account } = book(was ?? (yield* unlimited(record)), used)
  rows.add([{ type: 'account', was, account }])
}

/** The account of a process without an allowance: it has no limits, and counts. */
export function* unlimited({ pid, parent, root, owner, createdAt }: ProcessRecord): PlanPart<Account> {
  const named = owner.session === undefined ? null : yield* know({ ask: 'session', id: owner.session })
  // A session of the same name that was opened since is another one.
  const session = named === null || named.openedAt > createdAt ? null : sessionAccountOf(named)
  return newAccount({ id: accountOf(pid), parent: aboveOf(parent, null), root, session }, {})
}

/** Removes the account of a pruned process. Its usage stays in the sums above it. */
export function* dropAccount(
  rows: WorkingRows,
  record: Pick<ProcessRecord, 'pid' | 'parent' | 'root'>,
): PlanPart<void> {
  const was = yield* rows.account(accountOf(record.pid))
  if (was === null) return
  rows.add([{ type: 'account_gone', id: was.id }])
  const spent = spentOf(was)
  if (was.settled || isNothing(spent)) return
  const heir = yield* heirOf(rows, record, was)
  if (heir === null) return
  const account = receive(heir.account, { freed: {}, spent })
  rows.add([{ type: 'account', was: heir.was, account }])
}

/** The account whose sums it belongs to: of its parent, its root or its session, the nearest that still exists. */
function* heirOf(
  rows: WorkingRows,
  { parent, root, pid }: Pick<ProcessRecord, 'pid' | 'parent' | 'root'>,
  { session }: Account,
): PlanPart<{ readonly was: Account | null; readonly account: Account } | null> {
  for (const above of [parent, root]) {
    if (above === null || above === pid) continue
    const row = yield* rows.process(above)
    if (row === null) continue
    const was = yield* rows.account(accountOf(above))
    // A settled account has passed its sums on already: amounts that are added to it now would be lost.
    if (was?.settled !== true) return { was, account: was ?? (yield* unlimited(row.record)) }
  }
  if (session === null) return null
  // A deleted session has no sums, and a later session of the same name has its own.
  const found = yield* know({ ask: 'session', id: sessionIn(session) })
  if (found === null || sessionAccountOf(found) !== session) return null
  const was = yield* rows.account(session)
  return { was, account: was ?? newSessionAccount(found) }
}
