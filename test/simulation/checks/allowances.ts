import { type Account, accountOf, leftOf } from '../../../src/core/allowance/account.ts'
import { COUNTED } from '../../../src/core/allowance/amounts.ts'
import type { Check, Ledger } from '../ledger.ts'
import { same } from '../ledger.ts'
import type { Stage } from '../stage.ts'

const LAW = 'no tree uses more than it was given'

/** Accounts are decided on facts that hold and never overdrawn; what is carved is what children hold, and back at their end. */
export function checkAllowances(stage: Stage, ledger: Ledger): Check {
  const accounts = new Map<string, Account>()
  return {
    other(change) {
      if (change.type === 'account_gone') accounts.delete(change.id)
      if (change.type !== 'account') return
      const { was, account } = change
      const known = accounts.get(account.id) ?? null
      if (!same(was as never, known as never))
        stage.violated('decided on facts that hold', `${account.id} was ${JSON.stringify(known)}`)
      for (const name of COUNTED)
        if (leftOf(account, name) < 0) stage.violated(LAW, `${account.id} is overdrawn: ${name}`)
      accounts.set(account.id, account)
    },
    full() {
      for (const account of accounts.values()) heldByChildren(stage, account, [...accounts.values()])
      for (const { pid, record } of ledger.processes.values()) {
        if (record.limits.allowance === undefined) continue
        const account = accounts.get(accountOf(pid))
        if (account === undefined) stage.violated(LAW, `${pid} has an allowance and no account`)
        else if (record.outcome === null && account.settled)
          stage.violated(LAW, `${pid} lives, and is settled`)
        else if (record.outcome !== null && !account.settled && isLimited(accounts.get(account.parent ?? '')))
          stage.violated(LAW, `${pid} has ended, and gave nothing back`)
      }
    },
  }
}

function heldByChildren(stage: Stage, account: Account, all: readonly Account[]): void {
  const children = all.filter(({ parent }) => parent === account.id)
  for (const name of COUNTED) {
    if (account.given[name] === undefined) continue
    const held = children
      .map((child) => (child.settled ? child.carved[name] : child.given[name]) ?? 0)
      .reduce((sum, amount) => sum + amount, 0)
    const carved = account.carved[name] ?? 0
    if (Math.abs(held - carved) > 1e-6)
      stage.violated(LAW, `${account.id} gave ${carved} ${name} away, and its children hold ${held}`)
  }
}

/** One without limits may have come to be after its children ended. */
function isLimited(account: Account | undefined): boolean {
  return account !== undefined && Object.keys(account.given).length > 0
}
