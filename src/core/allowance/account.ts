import type { Pid } from '../process/pid.ts'
import type { Session } from '../session/session.ts'
import { type Amounts, COUNTED, type Counted, exact, plus } from './amounts.ts'

export type AccountId = `process:${Pid}` | `session:${string}`

/**
 * The limits and the usage of one process or session. It lies outside the record: a charge is no event, and touches
 * this one account and none above it. For every name that is given, `used + below + carved` is at most `given`, except after
 * a charge for work that was already done.
 */
export interface Account {
  readonly id: AccountId
  /** The account it was carved from, and returns to: of its parent or its session, even if that has no account. */
  readonly parent: AccountId | null
  /** Whose sums it belongs to: its tree, and the account of its session, even if that has no account. */
  readonly root: Pid | null
  readonly session: string | null
  /** The most that it and everything below it may use. A name that is missing has no limit. */
  readonly given: Amounts
  /** Used by itself. */
  readonly used: Amounts
  /** Used by processes below it whose own accounts are settled. */
  readonly below: Amounts
  /** The part of `given` that processes below it hold. */
  readonly carved: Amounts
  /** It has ended, and its use is in its parent's `below`. It passes on amounts that return from below. */
  readonly settled: boolean
  /** Limits whose nearness was reported: that happens once. */
  readonly warned?: readonly Counted[]
  /** The last charges with a replay key: repeated, they charge nothing. */
  readonly charges?: readonly KeyedCharge[]
}

export interface KeyedCharge {
  readonly replayKey: string
  readonly amounts: Amounts
}

export const accountOf = (pid: Pid): AccountId => `process:${pid}`
/** A session that is opened again under the same name gets another account: the old processes give nothing back to it. */
export const sessionAccountOf = ({ id, openedAt }: Pick<Session, 'id' | 'openedAt'>): AccountId =>
  `session:${openedAt}:${id}`

/**
 * The remains of a deleted session with an allowance: the session itself may not open again without one. No session is
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

/** The session that an account belongs to. */
export function sessionIn(id: string): string {
  return id.replace(/^session:\d+:/, '')
}

/** The account above a process's own. */
export function aboveOf(parent: Pid | null, session: Session | null): AccountId | null {
  if (parent !== null) return accountOf(parent)
  return session === null ? null : sessionAccountOf(session)
}

export function newAccount(
  ids: Pick<Account, 'id' | 'parent' | 'root' | 'session'>,
  given: Amounts,
): Account {
  return { ...ids, given, used: {}, below: {}, carved: {}, settled: false }
}

export function newSessionAccount(session: Session): Account {
  const id = sessionAccountOf(session)
  return newAccount({ id, parent: null, root: null, session: id }, {})
}

/** Used by itself and by ended processes below it. */
export function spentOf({ used, below }: Account): Amounts {
  return plus(used, below)
}

/** The remaining amount of one name; below zero after an overrun, infinite without a limit. */
export function leftOf(account: Account, name: Counted): number {
  const given = account.given[name]
  if (given === undefined) return Number.POSITIVE_INFINITY
  return exact(given - (spentOf(account)[name] ?? 0) - (account.carved[name] ?? 0))
}

/** The first of these limits of which nothing is left; null if there is none. */
export function usedUp(account: Account, names: readonly Counted[]): Counted | null {
  return names.find((name) => leftOf(account, name) <= 0 && !isUntouched(account, name)) ?? null
}

/** A limit of 0 of a cost keeps to models that cost nothing: whether one does is known after its first call. */
function isUntouched(account: Account, name: Counted): boolean {
  const taken = (spentOf(account)[name] ?? 0) + (account.carved[name] ?? 0)
  return name === 'cost' && account.given.cost === 0 && taken === 0
}

/** The remaining amount of each name that has a limit; never below zero. */
export function remainderOf(account: Account): Amounts {
  return Object.fromEntries(
    COUNTED.filter((name) => account.given[name] !== undefined).map((name) => [
      name,
      Math.max(0, leftOf(account, name)),
    ]),
  )
}
