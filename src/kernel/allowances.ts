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
import { book, type Carved, receive, settle } from '../core/allowance/decide.ts'
import { usedByCommand } from '../core/allowance/used-by-command.ts'
import type { Change } from '../core/change.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Session } from '../core/session/session.ts'
import { know, type Question } from '../store/contract.ts'
import type { WorkingRows } from './working-rows.ts'

type Asking<Answer> = Generator<readonly Question[], Answer, readonly unknown[]>

/**
 * The account that a new process's allowance is carved from: its parent's, or its session's. The record and the session say
 * whether there is one, so that nobody looks who has no limits.
 */
export function* giverOf(
  rows: WorkingRows,
  parent: ProcessRow | null,
  session: Session | null,
): Asking<Account | null> {
  if (parent !== null)
    return parent.record.limits.allowance === undefined
      ? null
      : yield* rows.account(accountOf(parent.record.pid))
  return session?.allowance === undefined ? null : yield* rows.account(sessionAccountOf(session))
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
 * In the transaction of its end: what is unused goes back to the account that it was carved from. Above one that has ended
 * before it goes on, until somebody is there who can use it.
 */
export function* giveBack(rows: WorkingRows, record: ProcessRecord): Asking<void> {
  if (record.limits.allowance === undefined) return
  const was = yield* rows.account(accountOf(record.pid))
  // Settled: for its successor's sake, a moment ago.
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
 * Its program has ended, and this is what it used: its successor is given of what is left before its own end is written. From
 * here on nobody charges it, and no child of it is given anything.
 */
export function* giveBackEarly(rows: WorkingRows, { pid, used }: Succeeded): Asking<void> {
  const was = yield* rows.account(accountOf(pid))
  if (was === null || was.settled || was.parent === null) return
  const parent = yield* rows.account(was.parent)
  if (parent !== null) yield* settleInto(rows, was, book(was, used).account, parent)
}

/** One that has ended, and what it used. */
export interface Succeeded {
  readonly pid: Pid
  readonly used: Amounts
}

function* settleInto(rows: WorkingRows, was: Account, booked: Account, parent: Account): Asking<void> {
  const { account, returned } = settle(booked)
  rows.add([{ type: 'account', was, account }])
  for (let above: Account | null = parent; above !== null; ) {
    rows.add([{ type: 'account', was: above, account: receive(above, returned) }])
    above = above.settled && above.parent !== null ? yield* rows.account(above.parent) : null
  }
}

/** A command that nobody gave an allowance has used something, too: where somebody above it has sums, it is part of them. */
export function* countUse(rows: WorkingRows, record: ProcessRecord): Asking<void> {
  if (record.parent === null && record.owner.session === undefined) return
  const used = usedByCommand(record.kind, record.outcome?.result)
  if (isNothing(used)) return
  const was = yield* rows.account(accountOf(record.pid))
  const { account } = book(was ?? (yield* unlimited(record)), used)
  rows.add([{ type: 'account', was, account }])
}

/** Of a process that nobody gave an allowance: it has no limits, and counts. */
export function* unlimited({ pid, parent, root, owner, createdAt }: ProcessRecord): Asking<Account> {
  const named = owner.session === undefined ? null : yield* know({ ask: 'session', id: owner.session })
  // One of the same name may have been opened since: that is not the one it belongs to.
  const session = named === null || named.openedAt > createdAt ? null : sessionAccountOf(named)
  return newAccount({ id: accountOf(pid), parent: aboveOf(parent, null), root, session }, {})
}

/** A process is pruned, and its account goes with it: what it used stays part of the sums above it. */
export function* dropAccount(
  rows: WorkingRows,
  record: Pick<ProcessRecord, 'pid' | 'parent' | 'root'>,
): Asking<void> {
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

/** Whose sums it is part of: the nearest of its parent, its root and its session that is still there. */
function* heirOf(
  rows: WorkingRows,
  { parent, root, pid }: Pick<ProcessRecord, 'pid' | 'parent' | 'root'>,
  { session }: Account,
): Asking<{ readonly was: Account | null; readonly account: Account } | null> {
  for (const above of [parent, root]) {
    if (above === null || above === pid) continue
    const row = yield* rows.process(above)
    if (row === null) continue
    const was = yield* rows.account(accountOf(above))
    // The sums of one that has passed its own on already would be nobody's any more.
    if (was?.settled !== true) return { was, account: was ?? (yield* unlimited(row.record)) }
  }
  if (session === null) return null
  // Of a session that is gone nobody asks for sums, and another one of its name has its own.
  const found = yield* know({ ask: 'session', id: sessionIn(session) })
  if (found === null || sessionAccountOf(found) !== session) return null
  const was = yield* rows.account(session)
  return { was, account: was ?? newSessionAccount(found) }
}
