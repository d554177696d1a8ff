import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { OutputOf } from 'reeve'
import { asJson, objectOf } from '../../src/core/json/json.ts'
import type { Random } from '../simulation/random.ts'
import { AgentFindings, type Logged, type SoakedAgent, textOf } from './agent-findings.ts'
import { AGENT_WRITES } from './kill-at.ts'
import {
  type KillCounts,
  type Killing,
  type KillSoakOptions,
  type SoakedStore,
  type SoakedWork,
  soakStores,
} from './kill-soak.ts'
import type { KilledDaemons } from './killed-daemons.ts'
import type { SoakFolder } from './soak-folder.ts'
import { StrictModel } from './strict-model.ts'

export interface AgentSoakReport extends KillCounts {
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
/** Requests that one agent gets, before it is compared and the next one begins. */
const REQUESTS = 12
/** Three of four daemons die at a write. */
const KILLS = { writes: AGENT_WRITES, randomEvery: 4, maxLifeMs: 5_000 }
const WAIT_MS = 20_000
const LAST = 'last'

/** Agents get inputs, cancels and pauses while their daemon is killed: at every sort of write, and at random. Then all effects are counted. */
export function soakAgents(options: KillSoakOptions): Promise<AgentSoakReport> {
  return soakStores(options, KILLS, (folder, random, store) => new AgentWork(folder, random, store))
}

class AgentWork implements SoakedWork<AgentSoakReport> {
  readonly #store: SoakedStore
  readonly #effects: string
  readonly #random: Random
  readonly #model: StrictModel
  readonly #agents: SoakedAgent[] = []

  constructor({ folder }: SoakFolder, random: Random, store: SoakedStore) {
    this.#store = store
    this.#effects = join(folder, 'effects')
    this.#random = random
    mkdirSync(this.#effects)
    this.#model = new StrictModel(random.fork(), (agent) => join(this.#effects, agent))
  }

  async env(): Promise<Readonly<Record<string, string>>> {
    const providers = { strict: { type: 'openai-compatible', baseURL: await this.#model.listen() } }
    return { REEVE_PROVIDERS: JSON.stringify(providers) }
  }

  progress(): string {
    return `${this.#agents.length} agents, ${this.#model.requests} model calls`
  }

  async close(): Promise<void> {
    await this.#model.close().catch(() => undefined)
  }

  async work(killing: Killing): Promise<void> {
    await Promise.all(
      Array.from({ length: AGENTS }, (_, index) => this.#workOn(killing, index, this.#random.fork())),
    )
  }

  /** One agent after the other, each with its clients. */
  async #workOn(killing: Killing, index: number, random: Random): Promise<void> {
    const { daemons } = killing
    for (let number = 0; !killing.isOver; number++) {
      const agent = await this.#start(daemons, `a${index}-${number}`)
      for (let request = 0; request < REQUESTS; request++) {
        await this.#request(daemons, agent, `r${request}`, random)
        await pause(random.between(0, 300))
      }
      await this.#finish(daemons, agent)
    }
  }

  async #start(daemons: KilledDaemons, name: string): Promise<SoakedAgent> {
    const spec = { agent: 'soaked', model: `strict/${name}` }
    const { record } = await daemons.call((reeve) =>
      reeve.spawn({ kind: 'agent', idempotencyKey: name, cwd: this.#effects, spec }),
    )
    const agent = {
      name,
      pid: record.pid,
      accepted: new Set<string>(),
      returned: new Set<string>(),
      stopped: new Map<number, string>(),
    }
    this.#agents.push(agent)
    return agent
  }

  /** One request of a client. A refusal is an answer, too. */
  async #request(daemons: KilledDaemons, agent: SoakedAgent, id: string, random: Random): Promise<void> {
    const { pid } = agent
    const what = random.pick(['run', 'queue', 'queue', 'steer', 'steer', 'cancel', 'pause'] as const)
    switch (what) {
      case 'cancel':
        return this.#stopped(agent, () => daemons.call((reeve) => reeve.cancelTurn({ pid, id })))
      case 'pause':
        await this.#stopped(agent, () => daemons.call((reeve) => reeve.pauseAgent({ pid, id })))
        await pause(random.between(0, 200))
        await daemons
          .call((reeve) => reeve.resumeAgent({ pid, id: `${id} resumed` }))
          .catch(unless('not_paused', 'already_running'))
        return
      default:
        await this.#send(daemons, agent, id, what)
    }
  }

  async #send(
    daemons: KilledDaemons,
    { name, pid, accepted }: SoakedAgent,
    id: string,
    mode: 'run' | 'queue' | 'steer',
  ): Promise<void> {
    const text = textOf(name, id)
    const answer = await daemons
      .call((reeve) => reeve.runAgent({ pid, id, text, mode }))
      .catch(unless('already_running'))
    if (answer !== undefined) accepted.add(id)
  }

  async #stopped(
    { returned, stopped }: SoakedAgent,
    act: () => Promise<OutputOf<'cancelTurn'> | OutputOf<'pauseAgent'>>,
  ): Promise<void> {
    const answer = await act().catch(unless('not_running'))
    if (answer === undefined || !('returned' in answer)) return
    for (const id of answer.returned) returned.add(id)
    stopped.set(answer.turn, answer.type)
  }

  /** The last input brings the session to an end, after all others. */
  async #finish(daemons: KilledDaemons, agent: SoakedAgent): Promise<void> {
    const { pid, accepted } = agent
    await daemons
      .call((reeve) => reeve.resumeAgent({ pid, id: 'last resumed' }))
      .catch(unless('not_paused', 'already_running'))
    await this.#send(daemons, agent, LAST, 'queue')
    // After a turn that crashed, inputs wait for the next request.
    for (let more = 0; ; more++) {
      const waited = await daemons.call((reeve) => reeve.waitAgent({ pid, timeoutMs: WAIT_MS }))
      if (waited.type !== 'idle') continue
      const { inputs = [] } = waited.record.agent ?? {}
      if (inputs.length === 0 && waited.turn?.reason === 'finished') break
      await this.#send(daemons, agent, `${LAST}${more}`, 'run')
    }
    await daemons.call((reeve) => reeve.shutDownAgent({ pid, id: 'end' }))
    if (accepted.size === 0) throw new Error(`${agent.name} took no input`)
  }

  async look(killing: Killing): Promise<AgentSoakReport> {
    const found = new AgentFindings(this.#store)
    for (const agent of this.#agents) {
      const events = await this.#eventsOf(killing.daemons, agent.pid)
      found.compare(agent, events, this.#linesOf(agent.name), this.#model.requestsOf(agent.name))
    }
    found.invalidPrompts.push(...this.#model.complaints)
    const problems = (await killing.problemsAtEnd()).map((what) => `${this.#store}: ${what}`)
    found.problems.push(...problems)
    return {
      ...killing.counts,
      ...found.report(),
      agents: this.#agents.length,
      requests: this.#model.requests,
    }
  }

  async #eventsOf(daemons: KilledDaemons, pid: string): Promise<readonly Logged[]> {
    const all: Logged[] = []
    for (let after = 0; ; ) {
      const from = after
      const { events } = await daemons.call((reeve) => reeve.events({ pid, after: from, limit: 500 }))
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

function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(String(Object(error).code))) throw error
    return undefined
  }
}
