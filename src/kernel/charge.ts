import { type Account, accountOf } from '../core/allowance/account.ts'
import { type ChargeRequest, decideCharge } from '../core/allowance/decide-charge.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Plan } from '../store/contract.ts'
import { unlimited } from './allowances.ts'
import type { Edges } from './edges.ts'
import { performOne, unknownPid } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

export interface Charging extends ChargeRequest {
  readonly pid: Pid
  readonly actor: Actor
}

export interface ChargeAnswer {
  readonly account: Account
  /** As it is after the charge: stopping or ended, if the charge exceeded a limit. */
  readonly row: ProcessRow
}

/**
 * Charges one process, in one transaction with the consequences: a limit that comes near is an event, once; a limit that is
 * exceeded kills the process. The charge itself is no event, and touches no account but the process's own.
 */
export function charge(edges: Edges, self: string, charging: Charging): Promise<ChargeAnswer | Refusal> {
  const { pid, actor } = charging
  const asked = { pid, actor: `kernel:${self}`, at: edges.clock.now() } as const
  const plan: Plan<ChargeAnswer | Refusal> = function* () {
    const rows = new WorkingRows()
    const row = yield* rows.process(pid)
    if (row === null) return { answer: yield* unknownPid(pid), changes: [] }
    const denied = edges.authorize(actor, 'execute', { type: 'process', record: row.record })
    if (denied !== undefined) return { answer: denied, changes: [] }
    const was = yield* rows.account(accountOf(pid))
    const before = was ?? (yield* unlimited(row.record))
    const decision = decideCharge(row.record, before, charging)
    if (decision.type === 'refuse') return { answer: decision.refusal, changes: [] }
    if (decision.type === 'replay') return { answer: { account: before, row }, changes: [] }
    const { account, near, over } = decision
    rows.add([{ type: 'account', was, account }])
    const intents: Intent[] = near.map((limit) => ({ type: 'near_limit', ...asked, near: limit }))
    if (over !== null) {
      const reason = `limit:${over}`
      intents.push({ type: 'stop', ...asked, how: 'kill', reason, cause: null, replayKey: reason })
    }
    let now = row
    for (const intent of intents) {
      const performed = yield* performOne(edges, rows, intent)
      if (performed.type === 'refused') return { answer: performed.refusal, changes: [] }
      now = performed.row
    }
    return { answer: { account, row: now }, changes: rows.changes }
  }
  return edges.store.write(plan)
}
