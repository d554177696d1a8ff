import { questionAnswer } from '../../core/approval/question.ts'
import type { Owner } from '../../core/process/record.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { isJsonObject } from '../kept-rpc/rpc-message.ts'
import type { ToolDefinition } from './tool-definition.ts'

type TrustVerbs = Pick<ReeveVerbs, 'show' | 'events' | 'send' | 'ask'>

export interface TrustParts {
  readonly verbs: TrustVerbs
  readonly agent: string
  readonly owner: Owner | undefined
  readonly server: string
}

export interface TrustVerdict {
  readonly trusted: readonly ToolDefinition[]
  /** Defined otherwise than the agent has seen them, and not accepted by a person. */
  readonly drifted: readonly ToolDefinition[]
}

const ACCEPT = 'accept'

/**
 * The definitions of a server's tools that an agent has seen. They are named signals of the agent without a waiter: the last
 * one counts. A new tool is trusted. A changed one needs the consent of a person, who is asked once for each change.
 */
export class ToolTrust {
  readonly #parts: TrustParts

  constructor(parts: TrustParts) {
    this.#parts = parts
  }

  async judge(definitions: readonly ToolDefinition[]): Promise<TrustVerdict> {
    const seen = await this.#seen()
    const trusted: ToolDefinition[] = []
    const drifted: ToolDefinition[] = []
    const next = new Map(seen)
    for (const definition of definitions) {
      const known = seen.get(definition.name)
      const isTrusted =
        known === undefined || known === definition.hash || (await this.#isAccepted(definition, known))
      if (isTrusted) next.set(definition.name, definition.hash)
      ;(isTrusted ? trusted : drifted).push(definition)
    }
    if (definitions.some(({ name }) => next.get(name) !== seen.get(name))) await this.#keep(next)
    return { trusted, drifted }
  }

  get #signal(): string {
    return `mcp_tools_${this.#parts.server}`
  }

  async #seen(): Promise<ReadonlyMap<string, string>> {
    const { verbs, agent } = this.#parts
    const { signals } = await verbs.show({ pid: agent })
    const seq = signals[this.#signal]?.pending.at(-1)
    if (seq === undefined) return new Map()
    const { events } = await verbs.events({ pid: agent, after: seq - 1, limit: 1 })
    const payload: unknown = events[0]?.payload
    const value = isJsonObject(payload) ? payload['value'] : null
    const entries = isJsonObject(value) ? Object.entries(value) : []
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  }

  async #keep(seen: ReadonlyMap<string, string>): Promise<void> {
    const { verbs, agent } = this.#parts
    await verbs.send({ pid: agent, name: this.#signal, value: Object.fromEntries(seen) })
  }

  /** Asks a person once, and does not wait. */
  async #isAccepted({ name, description, hash }: ToolDefinition, known: string): Promise<boolean> {
    const { verbs, agent, owner, server } = this.#parts
    const question = `The tool ${name} of the MCP server ${server} has changed since the agent ${agent} first saw it. It says now: ${description.slice(0, MAX_SHOWN_CHARS)}`
    const { record } = await verbs.ask({
      question,
      choices: [ACCEPT, 'refuse'],
      idempotencyKey: `mcp:${agent}:${server}:${known}:${hash}`,
      parent: agent,
      ...(owner === undefined ? {} : { owner }),
    })
    if (record.outcome === null) return false
    const answer = questionAnswer(record.outcome)
    return answer.type === 'replied' && answer.value === ACCEPT
  }
}

const MAX_SHOWN_CHARS = 4_000
