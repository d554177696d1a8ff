import assert from 'node:assert/strict'
import { type Account, accountOf } from '../../core/allowance/account.ts'
import type { Amounts } from '../../core/allowance/amounts.ts'
import type { Pid } from '../../core/process/pid.ts'
import { isRefusal } from '../../core/refusal.ts'
import { charge } from '../../kernel/charge.ts'
import type { Edges } from '../../kernel/edges.ts'
import { type Bench, OUTSIDE } from './bench.ts'

export function registerChild(bench: Bench, pid: Pid, parent: Pid, allowance: Amounts | undefined) {
  return bench.register({ ...OUTSIDE, parent, ...(allowance === undefined ? {} : { allowance }) }, { pid })
}

export async function account(bench: Bench, pid: Pid): Promise<Account> {
  const found = await bench.store.ask({ ask: 'account', id: accountOf(pid) })
  assert.ok(found, `${pid} has an account`)
  return found
}

/** Charges before the work, which must be accepted. */
export async function chargeBefore(bench: Bench, pid: Pid, amounts: Amounts): Promise<void> {
  const answer = await charge(bench.edges, 'k', { pid, amounts, done: false, actor: 'host' })
  assert.ok(!isRefusal(answer), JSON.stringify(answer))
}

export async function complete(bench: Bench, pid: Pid, edges: Edges = bench.edges): Promise<void> {
  await bench.perform(
    { type: 'end', pid, ending: { status: 'completed' }, replayKey: 'end', fence: null },
    edges,
  )
}
