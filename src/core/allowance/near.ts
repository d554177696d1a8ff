import { type Account, leftOf, spentOf } from './account.ts'
import { type Amounts, COUNTED, type Counted, exact } from './amounts.ts'

/** At this share of a limit, in percent, the process's scope is warned: early enough to act. */
const NEAR_PERCENT = 80

/** One limit that will soon be reached. */
export interface NearLimit {
  readonly limit: Counted
  readonly given: number
  readonly spent: number
  /** The part of the limit that processes below it hold. */
  readonly carved: number
}

/** The limits that a charge has brought near, each once in the life of a process; and the account that remembers it. */
export function warn(
  account: Account,
  charged: Amounts,
): { readonly account: Account; readonly near: readonly NearLimit[] } {
  const names = COUNTED.filter(
    (name) => (charged[name] ?? 0) > 0 && isNear(account, name) && !(account.warned ?? []).includes(name),
  )
  if (names.length === 0) return { account, near: [] }
  const spent = spentOf(account)
  return {
    account: { ...account, warned: [...(account.warned ?? []), ...names] },
    near: names.map((limit) => ({
      limit,
      given: account.given[limit] ?? 0,
      spent: spent[limit] ?? 0,
      carved: account.carved[limit] ?? 0,
    })),
  }
}

function isNear(account: Account, name: Counted): boolean {
  const given = account.given[name]
  return given !== undefined && exact(given - leftOf(account, name)) * 100 >= given * NEAR_PERCENT
}
