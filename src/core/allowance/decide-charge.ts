import { alreadyEnded } from '../process/decision.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import type { Refusal } from '../refusal.ts'
import type { Account } from './account.ts'
import { type Amounts, type Counted, refuseAmounts } from './amounts.ts'
import { book, charge, givenBack, refuseCharge, remember, repeated } from './decide.ts'
import { type NearLimit, warn } from './near.ts'

export interface ChargeRequest {
  readonly amounts: Amounts
  /** The work has been done, and is charged even beyond the limit. */
  readonly done: boolean
  /** A repeated charge under the same key is charged once. */
  readonly replayKey?: string
}

export type ChargeDecision =
  /** The same charge was made before: nothing changes. */
  | { readonly type: 'replay' }
  | {
      readonly type: 'charge'
      readonly account: Account
      /** Limits that this charge brings near. */
      readonly near: readonly NearLimit[]
      /** The limit that this charge exceeds: the process is killed, with the limit's name as the reason. */
      readonly over: Counted | null
    }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/**
 * Whether a process is charged. Before the work, a charge beyond the limit is refused whole; after the work it is booked.
 * `account` is the account of the process, or a new one without limits.
 */
export function decideCharge(
  record: ProcessRecord,
  account: Account,
  { amounts, done, replayKey }: ChargeRequest,
): ChargeDecision {
  const keyed = replayKey === undefined ? null : { replayKey, amounts }
  const before = keyed === null ? 'new' : repeated(account, keyed)
  if (before === 'replayed') return { type: 'replay' }
  if (before !== 'new') return before
  const refused =
    (hasEnded(record) ? alreadyEnded(record) : undefined) ??
    refuseAmounts(amounts) ??
    refuseCharge(record, amounts) ??
    (account.settled ? givenBack(account) : undefined)
  if (refused !== undefined) return { type: 'refuse', refusal: refused }
  const charged = done ? book(account, amounts) : charge(account, amounts)
  if (charged.type === 'refuse') return charged
  const kept = keyed === null ? charged.account : remember(charged.account, keyed)
  if (charged.over !== null) return { type: 'charge', account: kept, near: [], over: charged.over }
  return { type: 'charge', ...warn(kept, amounts), over: null }
}
