import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asJson, objectOf } from '../../src/core/json/json.ts'
import { AgentClients, type SoakedAgent } from './agent-clients.ts'
import { AgentFindings, type Logged } from './agent-findings.ts'
import { AGENT_WRITES, killInTurn } from './kill-at.ts'
import { type KillCounts, type KilledSoak, type KillOptions, merged, soakEach } from './killed-soak.ts'
import { StrictModel } from './strict-model.ts'

export type AgentSoakReport = KillCounts & {
  readonly agents: number
  readonly turns: number
  readonly rolledBack: number
  readonly cancelled: number
  readonly crashed: number
  readonly inputs: number
  readonly tools: number
  readonly requests: number
  readonly runTwice: readonly string[]
  readonly lostInputs: readonly string[]
  readonly invalidPrompts: readonly string[]
  readonly problems: readonly string[]
}

/** Agents at work at once. */
const AGENTS = 4
const MAX_LIFE_MS = 5_000

/** Agents get inputs, cancels and pauses while their daemon is killed: at every sort of write, and at random. Then all effects are counted. */
export async function soakAgents(options: KillOptions): Promise<AgentSoakReport> {
  const reports = await soakEach(options, (soak) => new Run(soak).whole())
  return reports.reduce(merged)
}

class Run {
  readonly #soak: KilledSoak
  /** The folder with one file for each agent: its commands write a line each. */
  readonly #effects: string
  readonly #model: StrictModel
  readonly #agents: SoakedAgent[] = []

  constructor(soak: KilledSoak) {
    this.#soak = soak
    this.#effects = join(soak.folder.folder, 'effects')
    mkdirSync(this.#effects)
    this.#model = new StrictModel(soak.random.fork(), (agent) => join(this.#effects, agent))
  }

  async whole(): Promise<AgentSoakReport> {
    const baseURL = await this.#model.listen()
    this.#soak.onEnd(() => this.#model.close())
    const providers = { strict: { type: 'openai-compatible', baseURL } }
    const killing = { killAt: killInTurn(AGENT_WRITES, 4), maxLifeMs: MAX_LIFE_MS }
    await this.#soak.run(() => this.#work(), killing, {
      env: { REEVE_PROVIDERS: JSON.stringify(providers) },
      progress: () => `${this.#agents.length} agents, ${this.#model.requests} model calls`,
    })
    return this.#look()
  }

  #work(): Promise<unknown> {
    return Promise.all(
      Array.from({ length: AGENTS }, async (_, place) => {
        const clients = new AgentClients(() => this.#soak.daemons, this.#soak.random.fork(), this.#effects)
        for (let number = 0; !this.#soak.isOver; number++)
          await clients.live(`a${place}-${number}`, (agent) => this.#agents.push(agent))
      }),
    )
  }

  async #look(): Promise<AgentSoakReport> {
    const found = new AgentFindings(this.#soak.store)
    for (const agent of this.#agents)
      found.compare(agent, {
        events: await this.#eventsOf(agent.pid),
        lines: this.#linesOf(agent.name),
        requests: this.#model.requestsOf(agent.name),
      })
    found.refused(this.#model.complaints)
    found.leftBehind(await this.#soak.stop())
    return {
      ...this.#soak.counts,
      ...found.report(),
      agents: this.#agents.length,
      requests: this.#model.requests,
    }
  }

  async #eventsOf(pid: string): Promise<readonly Logged[]> {
    const all: Logged[] = []
    for (let after = 0; ; ) {
      const from = after
      const { events } = await this.#soak.daemons.call((reeve) =>
        reeve.events({ pid, after: from, limit: 500 }),
      )
      for (const { type, payload } of events) all.push({ type, payload: objectOf(asJson(payload)) })
      const last = events.at(-1)
      if (last === undefined) return all
      after = last.seq
    }
  }

  #linesOf(agent: string): readonly string[] {
    try {
      return readFileSync(join(this.#effects, agent), 'utf8').trim().split('\n')
    } catch {
      // No command has run.
      return []
    }
  }
}
