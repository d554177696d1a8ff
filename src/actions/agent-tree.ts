import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Store } from '../store/contract.ts'

/** More than a tree has by its default limits. A larger one is cut, and the answer says so. */
const MAX_BELOW = 2_000
const PAGE = 500

export interface Below {
  readonly records: readonly ProcessRecord[]
  /** False: more processes match than were read. */
  readonly isWhole: boolean
}

/** The processes below an agent at any depth that match a filter. `own`: without those that a child agent has started. */
export async function processesBelow(
  store: Store,
  agent: ProcessRecord,
  filter: Filter,
  { own }: { readonly own: boolean },
): Promise<Below> {
  const ancestry = new Ancestry(store)
  const records: ProcessRecord[] = []
  let read = 0
  for (let after: number | null = null; ; ) {
    const asked = { filter: { ...filter, root: [agent.root] }, after, limit: PAGE } as const
    const page: { items: readonly { record: ProcessRecord }[]; next: number | null } = await store.ask({
      ask: 'processes',
      ...asked,
    })
    for (const { record } of page.items) {
      const above = await ancestry.of(record)
      const isBelow = own
        ? above.find(({ kind }) => kind === 'agent')
        : above.find(({ pid }) => pid === agent.pid)
      if (isBelow?.pid === agent.pid) records.push(record)
    }
    read += page.items.length
    if (page.next === null) return { records, isWhole: true }
    if (read >= MAX_BELOW) return { records, isWhole: false }
    after = page.next
  }
}

type Ancestor = Pick<ProcessRecord, 'pid' | 'kind' | 'parent'>

/** The processes above others. Each is read once. */
class Ancestry {
  readonly #store: Store
  readonly #known = new Map<Pid, Ancestor | null>()

  constructor(store: Store) {
    this.#store = store
  }

  /** The nearest first. A pruned ancestor ends the list. */
  async of({ parent }: ProcessRecord): Promise<readonly Ancestor[]> {
    const above: Ancestor[] = []
    for (let pid = parent; pid !== null; ) {
      const ancestor = await this.#read(pid)
      if (ancestor === null) break
      above.push(ancestor)
      pid = ancestor.parent
    }
    return above
  }

  async #read(pid: Pid): Promise<Ancestor | null> {
    const known = this.#known.get(pid)
    if (known !== undefined) return known
    const row = await this.#store.ask({ ask: 'process', pid })
    const ancestor = row === null ? null : { pid, kind: row.record.kind, parent: row.record.parent }
    this.#known.set(pid, ancestor)
    return ancestor
  }
}
