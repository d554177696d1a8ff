import { type Account, accountOf } from '../core/allowance/account.ts'
import { type Amounts, refuseAmounts } from '../core/allowance/amounts.ts'
import {
  book,
  charge as chargeBefore,
  givenBack,
  refuseCharge,
  remember,
  repeated,
} from '../core/allowance/decide.ts'
import { warn } from '../core/allowance/near.ts'
import { alreadyEnded } from '../core/process/decision.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Plan } from '../store/contract.ts'
import { unlimited } from './allowances.ts'
import type { Edges } from './edges.ts'
import { performOne, unknownPid } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

export interface Charging {
  readonly pid: Pid
  readonly amounts: Amounts
  /** The work has been done, and is charged whatever was allowed. */
  readonly done: boolean
  readonly actor: Actor
  /** Repeated under the same key it is charged once. */
  readonly replayKey?: string
}

export interface ChargeAnswer {
  readonly account: Account
  /** As it is now: being stopped, or ended, if this was more than it had. */
  readonly row: ProcessRow
}

/**
 * Charges one process. Before the work, too much is refused and nothing is charged; after it, too much ends the process in
 * the same transaction, with the limit's name as the reason. No account but its own is touched. The charge that brings a limit
 * near is told, once; others are no events.
 */
export function charge(edges: Edges, self: string, charging: Charging): Promise<ChargeAnswer | Refusal> {
  const { pid, amounts, done, actor, replayKey } = charging
  const at = edges.clock.now()
  const plan: Plan<ChargeAnswer | Refusal> = function* () {
    const rows = new WorkingRows()
    const row = yield* rows.process(pid)
    if (row === null) return { answer: yield* unknownPid(pid), changes: [] }
    const denied = edges.authorize(actor, 'execute', { type: 'process', record: row.record })
    if (denied !== undefined) return { answer: denied, changes: [] }
    const was = yield* rows.account(accountOf(pid))
    const keyed = replayKey === undefined ? null : { replayKey, amounts }
    const before = was === null || keyed === null ? 'new' : repeated(was, keyed)
    if (was !== null && before === 'replayed') return { answer: { account: was, row }, changes: [] }
    if (typeof before === 'object') return { answer: before.refusal, changes: [] }
    if (hasEnded(row.record)) return { answer: alreadyEnded(row.record), changes: [] }
    const wrong = refuseAmounts(amounts) ?? refuseCharge(row.record, amounts)
    if (wrong !== undefined) return { answer: wrong, changes: [] }
    if (was?.settled === true) return { answer: givenBack(was), changes: [] }
    const decided = (done ? book : chargeBefore)(was ?? (yield* unlimited(row.record)), amounts)
    if (decided.type === 'refuse') return { answer: decided.refusal, changes: [] }
    const { over } = decided
    const kept = keyed === null ? decided.account : remember(decided.account, keyed)
    const { account, near } = over === null ? warn(kept, amounts) : { account: kept, near: [] }
    rows.add([{ type: 'account', was, account }])
    if (over === null) {
      let now = row
      for (const limit of near) {
        const told = yield* performOne(edges, rows, {
          ...{ type: 'near_limit', pid, near: limit, actor: `kernel:${self}`, at },
        })
        if (told.type === 'refused') return { answer: told.refusal, changes: [] }
        now = told.row
      }
      return { answer: { account, row: now }, changes: rows.changes }
    }
    const reason = `limit:${over}`
    const stopped = yield* performOne(edges, rows, {
      ...{ type: 'stop', pid, how: 'kill', reason, cause: null, replayKey: reason },
      ...{ actor: `kernel:${self}`, at },
    })
    if (stopped.type === 'refused') return { answer: stopped.refusal, changes: [] }
    return { answer: { account, row: stopped.row }, changes: rows.changes }
  }
  return edges.store.write(plan)
}
