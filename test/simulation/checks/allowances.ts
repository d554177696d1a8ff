import { type Account, accountOf, leftOf, spentOf } from '../../../src/core/allowance/account.ts'
import { COUNTED, type Counted, plus } from '../../../src/core/allowance/amounts.ts'
import { isMemoryJob } from '../../../src/core/memory/memory-spec.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Check, Ledger } from '../ledger.ts'
import { same } from '../ledger.ts'
import { asJson, payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

const LAW = 'no tree uses more than it was given'

/**
 * Accounts are decided on true facts, and overdrawn only by charges after the work. The carved amount is what children hold,
 * and returns at their end. A tree uses no more than its root was given, except by charges after the work.
 */
export function checkAllowances(stage: Stage, ledger: Ledger): Check {
  const accounts = new Map<string, Account>()
  /** The total overdraft by charges after the work. */
  const over = new Map<Counted, number>()
  /** By parent: the registered children that are no tools and no jobs of memory. */
  const children = new Map<string, number>()
  return {
    process(_change, _before, stored) {
      for (const event of stored) {
        checkModelCall(stage, event, accounts.get(accountOf(event.pid)))
        const registered = payloadOf(event, 'registered')
        if (registered === undefined || registered.parent === null || !isChild(registered)) continue
        children.set(registered.parent, (children.get(registered.parent) ?? 0) + 1)
      }
    },
    other(change) {
      if (change.type === 'account_gone') accounts.delete(change.id)
      if (change.type !== 'account') return
      const { was, account } = change
      const known = accounts.get(account.id) ?? null
      if (!same(asJson(was), asJson(known)))
        stage.violated('decided on facts that hold', `${account.id} was ${JSON.stringify(known)}`)
      for (const name of COUNTED) {
        const more = overdraftOf(account, name) - (was === null ? 0 : overdraftOf(was, name))
        if (more <= EVEN) continue
        const isOwn = (account.used[name] ?? 0) > (was?.used[name] ?? 0)
        const mayBe = isOwn
          ? ledger.overrunning.has(account.id.slice('process:'.length))
          : overdraftOf(account, name) <= (over.get(name) ?? 0) + EVEN
        if (!mayBe) stage.violated(LAW, `${account.id} is overdrawn: ${name}`)
        if (isOwn) over.set(name, (over.get(name) ?? 0) + more)
      }
      accounts.set(account.id, account)
    },
    full() {
      for (const account of accounts.values()) heldByChildren(stage, account, [...accounts.values()])
      for (const account of accounts.values()) usedBelow(stage, account, accounts, over)
      for (const { pid, record } of ledger.processes.values()) {
        if (record.limits.allowance === undefined) continue
        const account = accounts.get(accountOf(pid))
        if (account !== undefined && (account.used.children ?? 0) !== (children.get(pid) ?? 0))
          stage.violated('a tool is a call, not a child', `${pid} counts ${account.used.children} children`)
        if (account === undefined) stage.violated(LAW, `${pid} has an allowance and no account`)
        else if (record.outcome === null && account.settled)
          stage.violated(LAW, `${pid} lives, and is settled`)
        else if (record.outcome !== null && !account.settled && isLimited(accounts.get(account.parent ?? '')))
          stage.violated(LAW, `${pid} has ended, and gave nothing back`)
      }
    },
  }
}

/** A tool is a call of its parent, and a job of memory nothing that an agent has started. */
function isChild(registered: Parameters<typeof isMemoryJob>[0]): boolean {
  return registered.kind !== 'tool' && !isMemoryJob(registered)
}

/** The limits of a call of a model are looked at before it begins. A cost of 0 keeps to models that are free. */
function checkModelCall(stage: Stage, event: StoredEvent, account: Account | undefined): void {
  if (account === undefined || payloadOf(event, 'model_call_begun') === undefined) return
  const empty = (['modelCalls', 'tokensIn', 'tokensOut', 'cost'] as const).find(
    (name) => leftOf(account, name) <= 0 && (name !== 'cost' || account.given.cost !== 0),
  )
  if (empty !== undefined) stage.violated(LAW, `${event.pid} calls a model with no ${empty} left`)
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

/** The usage of an account and of all accounts below it is at most the given amount, for every account. */
function usedBelow(
  stage: Stage,
  top: Account,
  accounts: ReadonlyMap<string, Account>,
  over: ReadonlyMap<Counted, number>,
): void {
  if (!isLimited(top) || accounts.has(top.parent ?? '')) return
  let used = spentOf(top)
  for (const account of accounts.values())
    if (!account.settled && isBelow(account, top, accounts)) used = plus(used, spentOf(account))
  for (const name of COUNTED) {
    const most = top.given[name]
    if (most === undefined || (used[name] ?? 0) <= most + (over.get(name) ?? 0) + EVEN) continue
    stage.violated(LAW, `${top.id} was given ${most} ${name}, and ${used[name]} are used below it`)
  }
}

function isBelow(account: Account, top: Account, accounts: ReadonlyMap<string, Account>): boolean {
  for (let above = account.parent; above !== null; above = accounts.get(above)?.parent ?? null)
    if (above === top.id) return true
  return false
}

function overdraftOf(account: Account, name: Counted): number {
  return Math.max(0, -leftOf(account, name))
}

/** Rounding errors of decimal sums stay below this. */
const EVEN = 1e-6

/** An account without limits may have been created after its children ended. */
function isLimited(account: Account | undefined): boolean {
  return account !== undefined && Object.keys(account.given).length > 0
}
