import {
  type Account,
  type AccountId,
  accountOf,
  remainderOf,
  sessionAccountOf,
  spentOf,
} from '../core/allowance/account.ts'
import { type Amounts, plus } from '../core/allowance/amounts.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Session } from '../core/session/session.ts'
import type { Store } from '../store/contract.ts'

/** The limits and the usage of one process or session. */
export interface Budget {
  readonly given: Amounts
  readonly used: Amounts
  /** Including everything below it. */
  readonly total: Amounts
  readonly left: Amounts
}

const PAGE = 1_000

/**
 * Sums for display. An ended process is already part of the account above it; live processes are added here, so that a live
 * process writes no account but its own. An account and the open accounts below it are read in one question: an account
 * that settles at that moment is counted once.
 */
export class Sums {
  readonly #store: Store
  readonly #trees = new Map<Pid, Promise<Tree>>()
  #any: Promise<boolean> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** Null if nothing was given or charged, here or below. */
  async of({ pid, root }: ProcessRecord): Promise<Budget | null> {
    this.#any ??= this.#store
      .ask({ ask: 'accounts', after: null, limit: 1 })
      .then((accounts) => accounts.length > 0)
    const id = accountOf(pid)
    const tree = (await this.#any) ? await this.#tree(root) : undefined
    const account = tree?.open.get(id) ?? (await this.#store.ask({ ask: 'account', id }))
    const below = tree?.below.get(id)
    return account === null && below === undefined ? null : budgetOf(account, below ?? {})
  }

  async ofSession(session: Session): Promise<Budget> {
    const id = sessionAccountOf(session)
    let below: Amounts = {}
    let own: Account | null = null
    for (const account of await open(this.#store, { session: id })) {
      if (account.id === id) own = account
      else below = plus(below, spentOf(account))
    }
    return budgetOf(own, below)
  }

  #tree(root: Pid): Promise<Tree> {
    const known = this.#trees.get(root) ?? this.#sumUp(root)
    this.#trees.set(root, known)
    return known
  }

  async #sumUp(root: Pid): Promise<Tree> {
    const below = new Map<AccountId, Amounts>()
    const parents = new Map<Pid, Pid | null>()
    const parentOf = async (pid: Pid) => {
      if (!parents.has(pid))
        parents.set(pid, (await this.#store.ask({ ask: 'process', pid }))?.record.parent ?? null)
      return parents.get(pid) ?? null
    }
    const accounts = await open(this.#store, { root })
    for (const account of accounts) {
      const spent = spentOf(account)
      let above = await parentOf(account.id.slice('process:'.length))
      for (; above !== null; above = await parentOf(above)) {
        const id = accountOf(above)
        below.set(id, plus(below.get(id) ?? {}, spent))
      }
    }
    return { open: new Map(accounts.map((account) => [account.id, account])), below }
  }
}

interface Tree {
  readonly open: ReadonlyMap<AccountId, Account>
  /** Per process: the sum of the open accounts below it. */
  readonly below: ReadonlyMap<AccountId, Amounts>
}

function budgetOf(account: Account | null, below: Amounts): Budget {
  if (account === null) return { given: {}, used: {}, total: below, left: {} }
  const total = plus(spentOf(account), below)
  return { given: account.given, used: account.used, total, left: remainderOf(account) }
}

async function open(
  store: Store,
  of: { readonly root: Pid } | { readonly session: string },
): Promise<Account[]> {
  const found: Account[] = []
  for (let after: string | null = null; ; ) {
    const page: readonly Account[] = await store.ask({ ask: 'accounts', ...of, after, limit: PAGE })
    found.push(...page)
    if (page.length < PAGE) return found
    after = page.at(-1)?.id ?? null
  }
}
