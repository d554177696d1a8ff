import { turnEndedKey } from '../../core/agent/act.ts'
import { type Hook, type HookPlace, hooksAt } from '../../core/agent/hooks.ts'
import { endedTurnsOf } from '../../core/agent/owed-hooks.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { RefusedError } from '../../core/errors.ts'
import { knownEvent } from '../../core/process/event.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { AgentSessions } from './agent-sessions.ts'
import { findHooks } from './find-hooks.ts'
import { hookCommand, keyOfHook } from './hook-command.ts'
import type { ToolboxParts } from './toolbox.ts'

/**
 * The hooks at the ends of turns and agents. They are started after the end, so that none holds it up, and all of one end at once. They are
 * not below the agent, which may have ended, but in its session and under its rules.
 */
export class EndHooks {
  readonly #parts: ToolboxParts
  readonly #sessions: AgentSessions

  constructor(parts: ToolboxParts, sessions: AgentSessions) {
    this.#parts = parts
    this.#sessions = sessions
  }

  /** Registers the hooks of all ends from this turn on. A repeated call finds those that it has registered. False: not on this host. */
  async start(agent: ProcessRecord, from: number): Promise<boolean> {
    const kernel = this.#parts.kernel()
    if (!kernel.isHere(agent.placement)) return false
    const { hooks } = await findHooks(kernel.edges, agent)
    const owed: { readonly hook: Hook; readonly at: HookPlace }[] = []
    const add = (at: HookPlace) => owed.push(...hooksAt(hooks, at.event).map((hook) => ({ hook, at })))
    if (hooksAt(hooks, 'turn_end').length > 0)
      for (let turn = from; turn <= endedTurnsOf(agent); turn++) {
        const reason = await this.#reasonOf(agent, turn)
        if (reason !== null) add({ event: 'turn_end', place: String(turn), turn, facts: { reason } })
      }
    const { outcome } = agent
    const { turns: last = 0 } = agent.agent ?? {}
    // A restored agent that never had a turn of its own had no session start.
    if (outcome !== null && (await this.#reasonOf(agent, last)) !== null) {
      const { status, reason } = outcome
      add({ event: 'session_end', place: 'end', turn: last, facts: { status, reason } })
    }
    if (owed.length === 0) return true
    const isOpened = await this.#openSession(agent)
    for (const { hook, at } of owed) await this.#start(agent, hook, at)
    if (isOpened && outcome !== null) await this.#sessions.end(agent.pid)
    return true
  }

  /** Null: it is no turn of this agent, but of one whose session it continues. */
  async #reasonOf({ pid }: ProcessRecord, turn: number): Promise<string | null> {
    const { store } = this.#parts.kernel().edges
    const event = await store.ask({ ask: 'event', pid, replayKey: turnEndedKey(turn) })
    const known = event === null ? null : knownEvent(event)
    return known?.type === 'turn_ended' ? known.payload.reason : null
  }

  /** The agent may have ended before its executor opened it. */
  async #openSession(agent: ProcessRecord): Promise<boolean> {
    const { store } = this.#parts.kernel().edges
    if ((await store.ask({ ask: 'session', id: agentSessionOf(agent.pid) })) !== null) return false
    await this.#sessions.of(agent)
    return true
  }

  async #start(agent: ProcessRecord, hook: Hook, at: HookPlace): Promise<void> {
    const kernel = this.#parts.kernel()
    const pid = await kernel.edges.pidForKey(`process:${agent.pid}`, keyOfHook(hook, at))
    // It goes on after the end of the agent and of its session, for as long as its timeout lets it.
    const request = { ...hookCommand(agent, hook, at), pid, lifetime: 'detached' } as const
    try {
      await this.#parts.registerHook(agent, request)
    } catch (error) {
      // The rules of the agent deny it, which the audit says, or its process was pruned: it has run.
      if (!(error instanceof RefusedError)) throw error
    }
  }
}
