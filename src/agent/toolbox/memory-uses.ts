import { BoundedMap } from '../../base/bounded-map.ts'
import { MAX_MEMORY_FILES } from '../../core/memory/memory-path.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { MemoryUses } from '../tools/memory/memory-tools.ts'
import type { EarlierCalls } from './earlier-calls.ts'

type Uses = Readonly<Record<string, number>>

const MAX_AGENTS = 1_000

/** How often each agent has read each file of memory. The result of a read has all counts, so a restart changes nothing. */
export class AgentMemoryUses {
  readonly #earlier: Pick<EarlierCalls, 'uses'>
  readonly #counts = new BoundedMap<Pid, Promise<Map<string, number>>>(MAX_AGENTS)

  constructor(earlier: Pick<EarlierCalls, 'uses'>) {
    this.#earlier = earlier
  }

  of(agent: Pid): MemoryUses {
    return {
      of: async () => Object.fromEntries(await this.#load(agent)),
      count: async (path) => {
        const counts = await this.#load(agent)
        counts.set(path, (counts.get(path) ?? 0) + 1)
        return Object.fromEntries(counts)
      },
    }
  }

  forget(agent: Pid): void {
    this.#counts.delete(agent)
  }

  #load(agent: Pid): Promise<Map<string, number>> {
    const loaded = this.#counts.get(agent) ?? this.#earlier.uses(agent).then(countsOf)
    this.#counts.set(agent, loaded)
    loaded.catch(() => this.#counts.delete(agent))
    return loaded
  }
}

function countsOf(uses: Uses): Map<string, number> {
  const counts = new BoundedMap<string, number>(MAX_MEMORY_FILES)
  for (const [path, count] of Object.entries(uses)) counts.set(path, count)
  return counts
}
