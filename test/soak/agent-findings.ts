import type { JsonObject } from '../../src/core/json/json.ts'
import type { Wire } from '../model/strict-checks.ts'
import { type SoakedAgent, textOf } from './agent-clients.ts'

export interface Logged {
  readonly type: string
  readonly payload: JsonObject
}

/** Compares the log of each agent with its effects, its clients and its model. */
export class AgentFindings {
  readonly #store: string
  readonly #counts = { turns: 0, rolledBack: 0, cancelled: 0, crashed: 0, inputs: 0, tools: 0 }
  readonly #runTwice: string[] = []
  readonly #lostInputs: string[] = []
  readonly #invalidPrompts: string[] = []
  readonly #problems: string[] = []

  constructor(store: string) {
    this.#store = store
  }

  report() {
    return {
      ...this.#counts,
      runTwice: this.#runTwice,
      lostInputs: this.#lostInputs,
      invalidPrompts: this.#invalidPrompts,
      problems: this.#problems.map((what) => `${this.#store}: ${what}`),
    }
  }

  /** What the model complained about. */
  refused(complaints: readonly string[]): void {
    this.#invalidPrompts.push(...complaints)
  }

  /** What was left behind after the last daemon. */
  leftBehind(problems: readonly string[]): void {
    this.#problems.push(...problems)
  }

  /** `lines`: the effects of its commands. `requests`: those that its model got. */
  compare(
    agent: SoakedAgent,
    {
      events,
      lines,
      requests,
    }: {
      readonly events: readonly Logged[]
      readonly lines: readonly string[]
      readonly requests: readonly Wire[]
    },
  ): void {
    const of = (type: string) => events.filter((event) => event.type === type).map(({ payload }) => payload)
    const turns = of('turn_ended')
    const rolledBack = new Set(turns.filter(({ reason }) => reason === 'rolled_back').map(({ turn }) => turn))
    this.#counts.turns += turns.length
    this.#counts.rolledBack += rolledBack.size
    for (const { reason, turn, message } of turns) {
      if (reason === 'cancelled') this.#counts.cancelled += 1
      else if (reason === 'crashed') this.#counts.crashed += 1
      else if (reason === 'provider_error')
        this.#invalidPrompts.push(`${agent.name}, turn ${turn}: ${message}`)
      else if (reason !== 'finished' && reason !== 'rolled_back')
        this.#problems.push(`${agent.name}, turn ${turn} ended with ${reason}: ${message}`)
    }
    for (const [turn, answer] of agent.stopped)
      if (!turns.some((one) => one['turn'] === turn && one['reason'] === answer))
        this.#problems.push(`${agent.name}, turn ${turn} was ${answer} for its client, and not in the log`)
    this.#compareTools(agent, of('tool_called'), of('tool_answered'), lines)
    const dropped = of('input_promoted').filter(({ turn }) => rolledBack.has(turn))
    this.#compareInputs(agent, of('input_admitted'), of('input_promoted'), requests, idsOf(dropped))
    this.#comparePrefixes(agent, requests, idsOf(dropped))
  }

  /** A command whose result is known ran once; one that was interrupted ran once at most. */
  #compareTools(
    { name }: SoakedAgent,
    called: readonly JsonObject[],
    answered: readonly JsonObject[],
    lines: readonly string[],
  ): void {
    const commands = called.filter(({ tool }) => tool === 'run_command').map(({ callId }) => String(callId))
    this.#counts.tools += called.length
    for (const callId of commands) {
      const ran = lines.filter((line) => `c-${line}` === callId).length
      const results = answered.filter((one) => one['callId'] === callId)
      const what = `${name}, ${callId}: ran ${ran} times, ${JSON.stringify(results)}`
      if (ran > 1) this.#runTwice.push(what)
      if (results.length !== 1) this.#problems.push(what)
      else if (results[0]?.['isError'] === false ? ran !== 1 : results[0]?.['interrupted'] !== true)
        this.#problems.push(what)
    }
    const unknown = lines.filter((line) => !commands.includes(`c-${line}`))
    if (unknown.length > 0) this.#problems.push(`${name} ran ${unknown.join(', ')}, which no call asked for`)
  }

  /** Each accepted input is admitted once and promoted once, and the model sees it once, unless its turn was rolled back. */
  #compareInputs(
    { name, accepted, returned }: SoakedAgent,
    admitted: readonly JsonObject[],
    promoted: readonly JsonObject[],
    requests: readonly Wire[],
    rolledBack: ReadonlySet<string>,
  ): void {
    const last = requests.at(-1)?.messages ?? []
    this.#counts.inputs += accepted.size
    for (const id of accepted) {
      const shown = last.filter((message) => message.includes(textOf(name, id))).length
      const counts = [countOf(admitted, id), countOf(promoted, id), shown]
      if (counts.join() !== [1, 1, rolledBack.has(id) ? 0 : 1].join())
        this.#lostInputs.push(`${name}, ${id}: admitted, promoted and shown ${counts.join(', ')} times`)
    }
    for (const { input } of admitted)
      if (!accepted.has(String(input))) this.#problems.push(`${name} took ${input}, unasked`)
    if ([...returned].some((id) => !rolledBack.has(id)) || returned.size !== rolledBack.size)
      this.#lostInputs.push(`${name}: returned ${[...returned]}, and rolled back ${[...rolledBack]}`)
  }

  /** Each request begins with the one before, but for what a roll-back removed. */
  #comparePrefixes({ name }: SoakedAgent, requests: readonly Wire[], rolledBack: ReadonlySet<string>): void {
    for (const [index, now] of requests.entries()) {
      const before = requests[index - 1]
      if (before === undefined) continue
      const what = `${name}, request ${index}`
      if (before.head !== now.head || before.tail !== now.tail)
        this.#invalidPrompts.push(`${what}: settings or tools changed`)
      const at = before.messages.findIndex((message, place) => now.messages[place] !== message)
      if (at === -1) continue
      const removed = before.messages[at] ?? ''
      if (![...rolledBack].some((id) => removed.includes(textOf(name, id))))
        this.#invalidPrompts.push(`${what}: message ${at} changed: ${removed.slice(0, 200)}`)
    }
  }
}

function idsOf(promoted: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(promoted.map(({ input }) => String(input)))
}

function countOf(events: readonly JsonObject[], id: string): number {
  return events.filter(({ input }) => input === id).length
}
