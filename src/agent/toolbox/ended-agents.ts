import { agentOfSession } from '../../core/agent/session.ts'
import { isNativeAgent } from '../../core/agent/state.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded } from '../../core/process/record.ts'
import type { Kernel } from '../../kernel/kernel.ts'

const PAGE = 200
/** Sorts before the id of every session of an agent. */
const FIRST = 'agent:'

/** Hears of ended agents: those that end from now on, and those that ended while no kernel listened. */
export class EndedAgents {
  readonly #kernel: Kernel
  readonly #onEnded: (pid: Pid) => Promise<void>
  readonly #unsubscribe: () => void
  #isClosed = false

  /** `isKnown`: whether a process is an agent that this program drives; other ends cost no question. */
  constructor(kernel: Kernel, isKnown: (pid: Pid) => boolean, onEnded: (pid: Pid) => Promise<void>) {
    this.#kernel = kernel
    this.#onEnded = onEnded
    this.#unsubscribe = kernel.feed.onAll((events) => {
      for (const { type, pid } of events)
        if (type === 'ended' && isKnown(pid)) this.#run(() => this.#look(pid))
    })
    this.#run(() => this.#lookAtAll())
  }

  close(): void {
    this.#isClosed = true
    this.#unsubscribe()
  }

  async #lookAtAll(): Promise<void> {
    const { store } = this.#kernel.edges
    for (let after = FIRST; ; ) {
      const sessions = await store.ask({ ask: 'sessions', after, limit: PAGE })
      for (const { id, endedAt } of sessions) {
        const pid = agentOfSession(id)
        if (pid === null || this.#isClosed) return
        if (endedAt === null) await this.#look(pid)
      }
      const last = sessions.at(-1)
      if (last === undefined || sessions.length < PAGE) return
      after = last.id
    }
  }

  async #look(pid: Pid): Promise<void> {
    const row = await this.#kernel.edges.store.ask({ ask: 'process', pid })
    // A pruned agent has ended, too.
    if (row === null || (isNativeAgent(row.record) && hasEnded(row.record))) await this.#onEnded(pid)
  }

  #run(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      if (!this.#isClosed && !this.#kernel.isClosed)
        this.#kernel.edges.onTrouble(error, 'ending the session of an agent')
    })
  }
}
