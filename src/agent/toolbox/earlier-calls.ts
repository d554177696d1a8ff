import { isOfBranch } from '../../core/agent/segment-calls.ts'
import { NEW_AGENT } from '../../core/agent/state.ts'
import { type JsonObject, objectOf, own } from '../../core/json/json.ts'
import { EMPTY_PLAN, isPlanList, type PlanList } from '../../core/plan/plan-list.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { processToolOf } from '../../core/tool/built-in-name.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Page } from '../../store/contract.ts'

/** Searches that count. A tool that was found before the last of these, and not since, has to be found again. */
const MAX_SEARCHES = 50
/** Reads of long-term memory that may have run at once. */
const MAX_READS = 20

/** Calls of other branches are passed over, so many pages of them. */
const MAX_PAGES = 100

/** What the results of an agent's earlier calls say: there is no other memory, so a restart changes nothing. Retention keeps those of `REMEMBERED_TOOLS`. */
export class EarlierCalls {
  readonly #kernel: () => Kernel

  constructor(kernel: () => Kernel) {
    this.#kernel = kernel
  }

  /** The names of the tools that its searches have found. */
  async found(agent: Pid): Promise<ReadonlySet<string>> {
    const results = await this.#results(agent, 'tool_search', MAX_SEARCHES)
    const names = results.flatMap(({ found }) => (Array.isArray(found) ? found : []))
    return new Set(names.filter((name) => typeof name === 'string'))
  }

  async plan(agent: Pid): Promise<PlanList> {
    const [last] = await this.#results(agent, 'plan', 1)
    const plan: unknown = last?.['plan']
    return isPlanList(plan) ? plan : EMPTY_PLAN
  }

  /** How often the session has read each file of long-term memory. */
  async uses(agent: Pid): Promise<Readonly<Record<string, number>>> {
    const most: Record<string, number> = {}
    // Reads at the same time may end in another order than they were counted in.
    for (const { uses } of await this.#results(agent, 'memory_read', MAX_READS))
      for (const [path, count] of Object.entries(objectOf(uses)))
        if (typeof count === 'number') most[path] = Math.max(count, own(most, path) ?? 0)
    return most
  }

  /** The results of the last calls of a tool on the current branch that completed, the newest first. */
  async #results(agent: Pid, tool: string, limit: number): Promise<readonly JsonObject[]> {
    const { store } = this.#kernel().edges
    const row = await store.ask({ ask: 'process', pid: agent })
    const state = row?.record.agent ?? NEW_AGENT
    const filter = { parent: [agent], kind: ['tool'], label: [tool], status: ['completed'] } as const
    const results: JsonObject[] = []
    for (let after: number | null = null, pages = 0; pages < MAX_PAGES; pages++) {
      const page: Page<{ readonly record: ProcessRecord }> = await store.ask({
        ask: 'processes',
        filter,
        newestFirst: true,
        after,
        limit,
      })
      for (const { record } of page.items)
        if (record.spec['tool'] === processToolOf(tool) && isOfBranch(state, agent, record.owner))
          results.push(objectOf(record.outcome?.result))
      after = page.next
      if (after === null || results.length >= limit) break
    }
    return results.slice(0, limit)
  }
}
