import { BoundedMap } from '../../base/bounded-map.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { isWiderPreset, type Preset } from '../../core/capability/presets.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { specOf, startSpecOf } from '../../core/process/spec.ts'
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

  async of(agent: ProcessRecord): Promise<string> {
    const { pid, cwd, owner, identity } = agent
    const known = this.#opened.get(pid)
    if (known !== undefined) return known
    const kernel = this.#kernel()
    const id = agentSessionOf(pid)
    const actor = `kernel:${kernel.id}` as const
    const preset = await this.#presetOf(agent, id)
    const session = await openSession(
      kernel.edges,
      actor,
      id,
      `agent ${identity.label}`.slice(0, 200),
      undefined,
      cwd ?? undefined,
      owner.session,
      preset === undefined ? undefined : { preset, by: actor, mayBePerson: false },
    )
    // A session of this name that another actor opened would see everything that the agent starts.
    if (parentSessionOf(session) !== (owner.session ?? null)) throw new RefusedError(foreign(id))
    this.#opened.set(pid, id)
    return id
  }

  /**
   * The preset that the agent's image or request gives its session. It never allows more than the preset of every session does, and
   * what a person has changed since stays.
   */
  async #presetOf(agent: ProcessRecord, id: string): Promise<Preset | undefined> {
    const { preset } = specOf({ kind: agent.kind, spec: startSpecOf(agent) }, 'agent')
    const { sessionPreset, store } = this.#kernel().edges
    if (preset === undefined || (sessionPreset !== undefined && isWiderPreset(preset, sessionPreset)))
      return undefined
    return (await store.ask({ ask: 'session', id })) === null ? preset : undefined
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
