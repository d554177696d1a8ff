import { BoundedMap } from '../../base/bounded-map.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { refusal } from '../../core/refusal.ts'
import { parentSessionOf } from '../../core/session/session.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { openSession } from '../../kernel/sessions.ts'

const MAX_KNOWN = 10_000

/** Opens the session of each agent: everything that the agent starts belongs to it. */
export class AgentSessions {
  readonly #kernel: () => Kernel
  readonly #opened = new BoundedMap<Pid, string>(MAX_KNOWN)

  constructor(kernel: () => Kernel) {
    this.#kernel = kernel
  }

  async of({ pid, cwd, owner, identity }: ProcessRecord): Promise<string> {
    const known = this.#opened.get(pid)
    if (known !== undefined) return known
    const kernel = this.#kernel()
    const id = agentSessionOf(pid)
    const actor = `kernel:${kernel.id}` as const
    const session = await openSession(
      kernel.edges,
      actor,
      id,
      `agent ${identity.label}`.slice(0, 200),
      undefined,
      cwd ?? undefined,
      owner.session,
    )
    // A session of this name that another actor opened would see everything that the agent starts.
    if (parentSessionOf(session) !== (owner.session ?? null)) throw new RefusedError(foreign(id))
    this.#opened.set(pid, id)
    return id
  }

  /** Whether this program has opened the session of this process. */
  isOpen(pid: Pid): boolean {
    return this.#opened.has(pid)
  }

  /** The agent has ended: its session ends, and so do processes with the lifetime of the session. */
  async end(pid: Pid): Promise<void> {
    this.#opened.delete(pid)
    const kernel = this.#kernel()
    const id = agentSessionOf(pid)
    const session = await kernel.edges.store.ask({ ask: 'session', id })
    if (session === null || session.endedAt !== null) return
    await kernel.sessions.end(`kernel:${kernel.id}`, id)
  }
}

function foreign(id: string) {
  return refusal(
    'conflict',
    `The session ${id} is below another session than its agent.`,
    'End that session, and start the agent again.',
  )
}
