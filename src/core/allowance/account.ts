import type { Pid } from '../process/pid.ts'
import type { Session } from '../session/session.ts'
import { type Amounts, COUNTED, type Counted, exact, plus } from './amounts.ts'

export type AccountId = `process:${Pid}` | `session:${string}`

/**
 * What one process, or one session, may use and has used. It lies outside the record: a charge is no event, and touches
 * this one account and none above it. For every name that is given, `used + below + carved` is at most `given`, unless work
 * was charged that had been done before anybody could say no.
 */
export interface Account {
  readonly id: AccountId
  /** Of its parent or session, whether there is one or not: it was carved from there, and goes back there. */
  readonly parent: AccountId | null
  /** The tree it stands in, and the account of the session, whether that has one or not: whose sums it is part of. */
  readonly root: Pid | null
  readonly session: string | null
  /** The most that it and all below it may use. What is not named has no limit. */
  readonly given: Amounts
  /** By itself. */
  readonly used: Amounts
  /** By those below it whose own accounts are settled. */
  readonly below: Amounts
  /** What those below it hold of the given. */
  readonly carved: Amounts
  /** It has ended, and its use is in its parent's `below`. What comes back from below it passes on. */
  readonly settled: boolean
  /** Limits that it was said of that they are near: that is said once. */
  readonly warned?: readonly Counted[]
  /** The last charges that had a replay key: repeated, they charge nothing. */
  readonly charges?: readonly KeyedCharge[]
}

export interface KeyedCharge {
  readonly replayKey: string
  readonly amounts: Amounts
}

export const accountOf = (pid: Pid): AccountId => `process:${pid}`
/** Another one when a session of the same name is opened again: what the processes of the old one give back is not its own. */
export const sessionAccountOf = ({ id, openedAt }: Pick<Session, 'id' | 'openedAt'>): AccountId =>
  `session:${openedAt}:${id}`

/**
 * What a deleted session leaves if it had an allowance: the session itself may not open again without one. No session is
 * opened at 0.
 */
export function deletedSessionAccount(id: string, given: Amounts): Account {
  const account = newAccount(
    { id: deletedSessionAccountOf(id), parent: null, root: null, session: null },
    given,
  )
  return { ...account, settled: true }
}

export const deletedSessionAccountOf = (id: string): AccountId => sessionAccountOf({ id, openedAt: 0 })

/** The session that such an account is of. */
export function sessionIn(id: string): string {
  return id.replace(/^session:\d+:/, '')
}

/** Above whose account a process's own stands. */
export function aboveOf(parent: Pid | null, session: Session | null): AccountId | null {
  if (parent !== null) return accountOf(parent)
  return session === null ? null : sessionAccountOf(session)
}

export function newAccount(
  place: Pick<Account, 'id' | 'parent' | 'root' | 'session'>,
  given: Amounts,
): Account {
  return { ...place, given, used: {}, below: {}, carved: {}, settled: false }
}

export function newSessionAccount(session: Session): Account {
  const id = sessionAccountOf(session)
  return newAccount({ id, parent: null, root: null, session: id }, {})
}

/** Used by itself and by those below it that have ended. */
export function spentOf({ used, below }: Account): Amounts {
  return plus(used, below)
}

/** What is left of one name; below zero after an overrun. Without a limit there is no end of it. */
export function leftOf(account: Account, name: Counted): number {
  const given = account.given[name]
  if (given === undefined) return Number.POSITIVE_INFINITY
  return exact(given - (spentOf(account)[name] ?? 0) - (account.carved[name] ?? 0))
}

/** Of each name that has a limit, never less than nothing. */
export function remainderOf(account: Account): Amounts {
  return Object.fromEntries(
    COUNTED.filter((name) => account.given[name] !== undefined).map((name) => [
      name,
      Math.max(0, leftOf(account, name)),
    ]),
  )
}
