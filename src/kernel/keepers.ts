import type { Holder } from '../core/lease/holder.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Edges } from './edges.ts'
import type { Executions } from './executions.ts'
import type { Executor, Keeping } from './executor.ts'
import { type HolderTimes, renew, retire } from './holders.ts'
import { emptyReport, type RecoveryReport } from './recover.ts'

/** The keepers of a kernel: which processes move from one keeper to the next, and when a keeper's row goes. */
export class Keepers {
  readonly #edges: Edges
  readonly #executions: readonly Executions[]
  readonly #times: HolderTimes

  constructor(edges: Edges, executions: readonly Executions[], times: HolderTimes) {
    this.#edges = edges
    this.#executions = executions
    this.#times = times
  }

  /** Adopts the processes of all keepers from any earlier kernel, and reports what became of them. */
  async adoptAll(): Promise<RecoveryReport> {
    const report = emptyReport()
    if (this.#executions.every(({ keeping }) => keeping === undefined)) return report
    const holders = await this.#edges.store.ask({ ask: 'holders' })
    const current = this.#executions.map(({ holder }) => holder)
    for (const executions of this.#executions) {
      const { keeping } = executions
      if (keeping === undefined) continue
      const predecessors = holders
        .filter(({ role, incarnation }) => role === 'keeper' && isFor(keeping, incarnation))
        .map(({ id }) => id)
        .filter((id) => !current.includes(id))
      const found = new Map<Pid, ReturnType<typeof keeping.found>>()
      const pids = await executions.adoptKept(predecessors, (record) =>
        found.set(record.pid, keeping.found(record)),
      )
      report.checked.push(...pids)
      for (const pid of pids) report[found.get(pid) ?? 'adopted'].push(pid)
      for (const id of predecessors) await retire(this.#edges, id)
    }
    return report
  }

  /** A keeper has died, and the executor has another one, which has taken its programs over. */
  async replaced(keeping: Keeping, former: string, holder: Holder): Promise<void> {
    await renew(this.#edges, holder, this.#times)
    await this.#executions.find((executions) => executions.keeping === keeping)?.holdBy(holder.id, former)
    await retire(this.#edges, former)
  }

  /** A keeper has died without a successor; another keeper of the same folder has taken its programs over. */
  async merged(former: string, into: string): Promise<void> {
    this.#executions.find(({ holder }) => holder === former)?.letGo()
    await this.#executions.find(({ holder }) => holder === into)?.adoptKept([former])
    await retire(this.#edges, former)
  }

  /** A keeper that holds something keeps its row: the next kernel finds its processes by it. */
  async retireIdle(): Promise<void> {
    for (const { keeping } of this.#executions) {
      if (keeping === undefined) continue
      const { id } = keeping.holder
      const { items } = await this.#edges.store.ask({ ask: 'held', holder: id, after: null, limit: 1 })
      if (items.length === 0) await retire(this.#edges, id)
    }
  }
}

/** The keepers whose folders were restored here from a backup: processes that were placed there are executed here. */
export function restoredKeepers({ keeping }: Executor): Pick<Holder, 'role' | 'host' | 'incarnation'>[] {
  return (keeping?.restoredFrom ?? []).map((incarnation) => ({ role: 'keeper', host: '', incarnation }))
}

function isFor({ holder, restoredFrom = [] }: Keeping, incarnation: string): boolean {
  return incarnation === holder.incarnation || restoredFrom.includes(incarnation)
}
