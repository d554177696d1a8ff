import { type Refusal, refusal } from '../refusal.ts'
import { type Account, leftOf } from './account.ts'
import { type Amounts, among, COUNTED, plus, refuseAmounts } from './amounts.ts'

export type ToppedUp =
  | {
      readonly type: 'topped_up'
      readonly account: Account
      /** The account that pays, with the amounts taken; null if none does. */
      readonly giver: Account | null
    }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/**
 * Raises the limits of a live process. What the account above limits is taken from there; another limit is the process's own, and costs
 * nothing. Its nearness is reported again.
 */
export function decideTopUp(account: Account, giver: Account | null, amounts: Amounts): ToppedUp {
  const wrong = refuseAmounts(amounts)
  if (wrong !== undefined) return { type: 'refuse', refusal: wrong }
  const names = COUNTED.filter((name) => (amounts[name] ?? 0) > 0)
  const unlimited = names.find((name) => account.given[name] === undefined)
  if (unlimited !== undefined || names.length === 0)
    return {
      type: 'refuse',
      refusal: refusal(
        'invalid_input',
        unlimited === undefined ? 'No amount is given.' : `${unlimited} has no limit.`,
        'Name limits that it has; its budget shows them.',
      ),
    }
  const from = giver?.settled === true ? null : giver
  const short = names.find((name) => from !== null && (amounts[name] ?? 0) > Math.max(0, leftOf(from, name)))
  if (from !== null && short !== undefined)
    return {
      type: 'refuse',
      refusal: refusal(
        'limit_exceeded',
        `limit:${short} of the giver: ${Math.max(0, leftOf(from, short))} left, and ${amounts[short]} asked for.`,
        'Give less, or raise the limit of the giver first.',
        { limit: short, left: Math.max(0, leftOf(from, short)), asked: amounts[short] },
      ),
    }
  const { warned, ...rest } = account
  const stillWarned = (warned ?? []).filter((name) => !names.includes(name))
  return {
    type: 'topped_up',
    account: {
      ...rest,
      given: plus(account.given, amounts),
      ...(stillWarned.length === 0 ? {} : { warned: stillWarned }),
    },
    giver: from === null ? null : { ...from, carved: plus(from.carved, among(amounts, from.given)) },
  }
}
