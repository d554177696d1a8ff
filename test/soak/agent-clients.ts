import { setTimeout as pause } from 'node:timers/promises'
import type { OutputOf } from 'reeve'
import type { Random } from '../simulation/random.ts'
import type { KilledDaemons } from './killed-daemons.ts'

/** Requests that one agent gets, before it is ended and the next one begins. */
const REQUESTS = 12
const WAIT_MS = 20_000
const LAST = 'last'

/** What the clients of one agent know: the inputs that were accepted, and how turns ended for them. */
export interface SoakedAgent {
  readonly name: string
  readonly pid: string
  readonly accepted: Set<string>
  readonly returned: Set<string>
  /** The turns that a client ended, with the answer that it got. */
  readonly stopped: Map<number, string>
}

/** The text of an input, as the model sees it. */
export function textOf(agent: string, id: string): string {
  return `<${agent} ${id}>`
}

/** The clients of one agent after the other: inputs, cancels and pauses, each repeated until a daemon answers. */
export class AgentClients {
  readonly #daemons: () => KilledDaemons
  readonly #random: Random
  readonly #workspace: string

  constructor(daemons: () => KilledDaemons, random: Random, workspace: string) {
    this.#daemons = daemons
    this.#random = random
    this.#workspace = workspace
  }

  /** The whole life of one agent. `begun` is called when it is there. */
  async live(name: string, begun: (agent: SoakedAgent) => void): Promise<void> {
    const agent = await this.#start(name)
    begun(agent)
    for (let request = 0; request < REQUESTS; request++) {
      await this.#request(agent, `r${request}`)
      await pause(this.#random.between(0, 300))
    }
    await this.#finish(agent)
  }

  async #start(name: string): Promise<SoakedAgent> {
    const spec = { agent: 'soaked', model: `strict/${name}` }
    const { record } = await this.#daemons().call((reeve) =>
      reeve.spawn({ kind: 'agent', idempotencyKey: name, cwd: this.#workspace, spec }),
    )
    const agent = {
      name,
      pid: record.pid,
      accepted: new Set<string>(),
      returned: new Set<string>(),
      stopped: new Map<number, string>(),
    }
    return agent
  }

  /** One request of a client. A refusal is an answer, too. */
  async #request(agent: SoakedAgent, id: string): Promise<void> {
    const { pid } = agent
    const what = this.#random.pick(['run', 'queue', 'queue', 'steer', 'steer', 'cancel', 'pause'] as const)
    switch (what) {
      case 'cancel':
        return this.#stopped(agent, () => this.#daemons().call((reeve) => reeve.cancelTurn({ pid, id })))
      case 'pause':
        await this.#stopped(agent, () => this.#daemons().call((reeve) => reeve.pauseAgent({ pid, id })))
        await pause(this.#random.between(0, 200))
        await this.#daemons()
          .call((reeve) => reeve.resumeAgent({ pid, id: `${id} resumed` }))
          .catch(unless('not_paused', 'already_running'))
        return
      default:
        await this.#send(agent, id, what)
    }
  }

  async #send(
    { name, pid, accepted }: SoakedAgent,
    id: string,
    mode: 'run' | 'queue' | 'steer',
  ): Promise<void> {
    const text = textOf(name, id)
    const answer = await this.#daemons()
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
  async #finish(agent: SoakedAgent): Promise<void> {
    const { pid, accepted } = agent
    await this.#daemons()
      .call((reeve) => reeve.resumeAgent({ pid, id: 'last resumed' }))
      .catch(unless('not_paused', 'already_running'))
    await this.#send(agent, LAST, 'queue')
    // After a turn that crashed, inputs wait for the next request.
    for (let more = 0; ; more++) {
      const waited = await this.#daemons().call((reeve) => reeve.waitAgent({ pid, timeoutMs: WAIT_MS }))
      if (waited.type !== 'idle') continue
      const { inputs = [] } = waited.record.agent ?? {}
      if (inputs.length === 0 && waited.turn?.reason === 'finished') break
      await this.#send(agent, `${LAST}${more}`, 'run')
    }
    await this.#daemons().call((reeve) => reeve.shutDownAgent({ pid, id: 'end' }))
    if (accepted.size === 0) throw new Error(`${agent.name} took no input`)
  }
}

function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(String(Object(error).code))) throw error
    return undefined
  }
}
