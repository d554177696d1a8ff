import { BoundedMap } from '../base/bounded-map.ts'
import { isNativeAgent } from '../core/agent/state.ts'
import type { Pid } from '../core/process/pid.ts'
import { NATIVE_AGENT, type ProcessRecord } from '../core/process/record.ts'
import type { Executor, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { AgentParts } from './agent-parts.ts'
import { SessionHistory } from './session-history.ts'

/** Sessions that were used last stay in memory, so that the next turn reads only new events. */
const MAX_HISTORIES = 64
/** A longer session is read again for each turn: it would take too much memory. */
const MAX_HISTORY_EVENTS = 20_000

/** Executes the agents that Reeve drives. */
export class NativeAgents implements Executor {
  readonly serves = [{ kind: 'agent', targets: [NATIVE_AGENT] }] as const
  readonly #parts: (kernel: Kernel) => Promise<AgentParts>
  readonly #histories = new BoundedMap<Pid, SessionHistory>(MAX_HISTORIES)

  constructor(parts: (kernel: Kernel) => Promise<AgentParts>) {
    this.#parts = parts
  }

  async run(work: Work, kernel: Kernel): ReturnType<Executor['run']> {
    const { record } = work
    if (!isNativeAgent(record)) throw new Error(`${record.pid} has no model`)
    const parts = await this.#parts(kernel)
    const history = this.#historyOf(record, kernel)
    const { AgentRun } = await import('./agent-run.ts')
    try {
      return await new AgentRun(work, kernel, parts, history).run()
    } finally {
      parts.servers.release(record.pid)
    }
  }

  #historyOf({ pid }: ProcessRecord, { edges }: Kernel): SessionHistory {
    const known = this.#histories.get(pid)
    if (known !== undefined && known.size <= MAX_HISTORY_EVENTS) return known
    const history = new SessionHistory(edges.store, pid)
    this.#histories.set(pid, history)
    return history
  }
}
