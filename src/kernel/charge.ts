import { type Account, accountOf } from '../core/allowance/account.ts'
import type { Counted } from '../core/allowance/amounts.ts'
import { type ChargeRequest, decideCharge } from '../core/allowance/decide-charge.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { unlimited } from './allowances.ts'
import { refusalChanges } from './audit.ts'
import type { Edges } from './edges.ts'
import { performOne, unknownPid } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
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

/** Charges one process, in one transaction with the consequences. */
export function charge(edges: Edges, self: string, charging: Charging): Promise<ChargeAnswer | Refusal> {
  const { actor, pid } = charging
  const act = { actor, action: 'charge', target: `process:${pid}`, at: edges.clock.now() }
  return edges.store.write(function* () {
    const rows = new WorkingRows()
    const answer = yield* chargeIn(edges, self, rows, charging)
    return {
      answer,
      changes: isRefusal(answer) ? yield* refusalChanges(edges, answer, act) : rows.changes,
    }
  })
}

/**
 * A limit that comes near is an event, once; a limit that is exceeded kills the process, or ends the turn of an agent. The charge itself
 * is no event, and touches no account but the process's own.
 */
export function* chargeIn(
  edges: Edges,
  self: string,
  rows: WorkingRows,
  charging: Charging,
): PlanPart<ChargeAnswer | Refusal> {
  const { pid, actor } = charging
  const asked = { pid, actor: `kernel:${self}`, at: edges.clock.now() } as const
  const row = yield* rows.process(pid)
  if (row === null) return yield* unknownPid(pid)
  const denied = edges.authorize(actor, 'execute', { type: 'process', record: row.record })
  if (denied !== undefined) return denied
  const was = yield* rows.account(accountOf(pid))
  const before = was ?? (yield* unlimited(row.record))
  const decision = decideCharge(row.record, before, charging)
  if (decision.type === 'refuse') return decision.refusal
  if (decision.type === 'replay') return { account: before, row }
  const { account, near, over } = decision
  rows.add([{ type: 'account', was, account }])
  const intents: Intent[] = near.map((limit) => ({ type: 'near_limit', ...asked, near: limit }))
  if (over !== null) intents.push({ ...asked, ...overrun(row, over) })
  let now = row
  for (const intent of intents) {
    const performed = yield* performOne(edges, rows, intent)
    if (performed.type === 'refused') return performed.refusal
    now = performed.row
  }
  return { account, row: now }
}

/** An agent outlives its limits: its turn ends, and the allowance can be raised. One that is being stopped ends anyway. */
function overrun({ record: { agent, stopRequest, revision } }: ProcessRow, limit: Counted) {
  if (agent !== null && stopRequest === null) {
    const request = { type: 'exceed_limit', id: `limit:${limit}:${revision}`, limit } as const
    return { type: 'agent_request', request } as const
  }
  const reason = `limit:${limit}`
  return { type: 'stop', how: 'kill', reason, cause: null, replayKey: reason } as const
}
