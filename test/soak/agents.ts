import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { OutputOf } from 'reeve'
import type { JsonObject } from '../../src/core/json/json.ts'
import { asJson, objectOf } from '../../src/core/json/json.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { Random } from '../simulation/random.ts'
import type { SoakedStore } from './approvals.ts'
import { AGENT_WRITES, type KillAt } from './kill-at.ts'
import { KilledDaemons } from './killed-daemons.ts'
import { SoakFolder } from './soak-folder.ts'
import { StrictModel } from './strict-model.ts'
import { withCleanUp } from './with-clean-up.ts'

export interface AgentSoakOptions {
  /** How many daemons are killed with `kill -9`, on all stores together. */
  readonly kills: number
  readonly stores: readonly SoakedStore[]
  readonly seed: number
  readonly say: (line: string) => void
}

export interface AgentSoakReport {
  readonly kills: number
  readonly killsAtWrites: number
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
const PROGRESS_MS = 5_000
/** Of a daemon that dies at a random moment. */
const LIVES_MS = { least: 20, most: 1_500 }
/** A daemon that did not come to its write in this time is killed where it is. */
const MAX_LIFE_MS = 5_000
const WAIT_MS = 20_000
const LAST = 'last'

/** Agents get inputs, cancels and pauses while their daemon is killed: at every sort of write, and at random. Then all effects are counted. */
export async function soakAgents(options: AgentSoakOptions): Promise<AgentSoakReport> {
  const { stores, kills } = options
  const reports: AgentSoakReport[] = []
  for (const [index, store] of stores.entries()) {
    const share =
      Math.floor(((index + 1) * kills) / stores.length) - Math.floor((index * kills) / stores.length)
    reports.push(await soakStore({ ...options, kills: share, seed: options.seed + index }, store))
  }
  return reports.reduce(added)
}

async function soakStore(options: AgentSoakOptions, store: SoakedStore): Promise<AgentSoakReport> {
  const folder = new SoakFolder('commands')
  let server: PostgresServer | null = null
  let run: Run | null = null
  return withCleanUp(
    async () => {
      server = store === 'postgres' ? await startPostgres() : null
      run = new Run(options, store, folder, server?.url ?? null)
      return run.whole()
    },
    async () => {
      await run?.abandon()
      await folder.remove()
      await server?.stop()
    },
  )
}

/** What clients know of one agent: the inputs that were accepted. */
interface SoakedAgent {
  readonly name: string
  readonly pid: string
  readonly accepted: Set<string>
  readonly returned: Set<string>
  /** The turns that a client ended, with the answer that it got. */
  readonly stopped: Map<number, string>
}

class Run {
  readonly #options: AgentSoakOptions
  readonly #store: SoakedStore
  readonly #folder: SoakFolder
  readonly #url: string | null
  readonly #random: Random
  readonly #model: StrictModel
  readonly #agents: SoakedAgent[] = []
  readonly #counts = { kills: 0, killsAtWrites: 0 }
  #daemons: KilledDaemons | null = null
  #isOver = false

  constructor(options: AgentSoakOptions, store: SoakedStore, folder: SoakFolder, url: string | null) {
    this.#options = options
    this.#store = store
    this.#folder = folder
    this.#url = url
    this.#random = new Random(options.seed)
    mkdirSync(this.#effects)
    this.#model = new StrictModel(this.#random.fork(), (agent) => this.#effectsOf(agent))
  }

  get #effects(): string {
    return join(this.#folder.folder, 'effects')
  }

  #effectsOf(agent: string): string {
    return join(this.#effects, agent)
  }

  get #reeve(): KilledDaemons {
    if (this.#daemons === null) throw new Error('The soak has not begun')
    return this.#daemons
  }

  async whole(): Promise<AgentSoakReport> {
    const providers = { strict: { type: 'openai-compatible', baseURL: await this.#model.listen() } }
    this.#daemons = new KilledDaemons(this.#folder.folder, {
      REEVE_ENVIRONMENT: 'inherit',
      REEVE_SHELL: '/bin/sh',
      REEVE_PROVIDERS: JSON.stringify(providers),
      ...(this.#url === null ? {} : { REEVE_STORE: this.#url }),
    })
    const begun = Date.now()
    const telling = setInterval(() => this.#options.say(this.#progress(Date.now() - begun)), PROGRESS_MS)
    try {
      const working = Promise.all(
        Array.from({ length: AGENTS }, (_, index) => this.#work(index, this.#random.fork())),
      )
      await Promise.race([this.#killDaemons(), working])
      this.#isOver = true
      await this.#reeve.start(null)
      await working
      return await this.#look()
    } finally {
      this.#isOver = true
      clearInterval(telling)
    }
  }

  async abandon(): Promise<void> {
    this.#isOver = true
    await this.#daemons?.abandon()
    await this.#model.close().catch(() => undefined)
  }

  async #killDaemons(): Promise<void> {
    const random = this.#random.fork()
    for (let number = 0; number < this.#options.kills; number++) {
      const killAt = killAtOf(number, random)
      await this.#reeve.start(killAt)
      const { ended } = this.#reeve
      const life = killAt === null ? random.between(LIVES_MS.least, LIVES_MS.most) : MAX_LIFE_MS
      const isDead = await Promise.race([ended.then(() => true), pause(life, false)])
      if (isDead) this.#counts.killsAtWrites += 1
      else await this.#reeve.kill()
      this.#counts.kills += 1
    }
  }

  /** One agent after the other, each with its clients. */
  async #work(place: number, random: Random): Promise<void> {
    for (let number = 0; !this.#isOver; number++) {
      const agent = await this.#start(`a${place}-${number}`)
      for (let request = 0; request < REQUESTS; request++) {
        await this.#request(agent, `r${request}`, random)
        await pause(random.between(0, 300))
      }
      await this.#finish(agent)
    }
  }

  async #start(name: string): Promise<SoakedAgent> {
    const spec = { agent: 'soaked', model: `strict/${name}` }
    const { record } = await this.#reeve.call((reeve) =>
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
  async #request(agent: SoakedAgent, id: string, random: Random): Promise<void> {
    const { pid } = agent
    const what = random.pick(['run', 'queue', 'queue', 'steer', 'steer', 'cancel', 'pause'] as const)
    switch (what) {
      case 'cancel':
        return this.#stopped(agent, () => this.#reeve.call((reeve) => reeve.cancelTurn({ pid, id })))
      case 'pause':
        await this.#stopped(agent, () => this.#reeve.call((reeve) => reeve.pauseAgent({ pid, id })))
        await pause(random.between(0, 200))
        await this.#reeve
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
    const answer = await this.#reeve
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
    await this.#reeve
      .call((reeve) => reeve.resumeAgent({ pid, id: 'last resumed' }))
      .catch(unless('not_paused', 'already_running'))
    await this.#send(agent, LAST, 'queue')
    // After a turn that crashed, inputs wait for the next request.
    for (let more = 0; ; more++) {
      const waited = await this.#reeve.call((reeve) => reeve.waitAgent({ pid, timeoutMs: WAIT_MS }))
      if (waited.type !== 'idle') continue
      const { inputs = [] } = waited.record.agent ?? {}
      if (inputs.length === 0 && waited.turn?.reason === 'finished') break
      await this.#send(agent, `${LAST}${more}`, 'run')
    }
    await this.#reeve.call((reeve) => reeve.shutDownAgent({ pid, id: 'end' }))
    if (accepted.size === 0) throw new Error(`${agent.name} took no input`)
  }

  async #look(): Promise<AgentSoakReport> {
    const found = new Findings(this.#store)
    for (const agent of this.#agents) {
      const events = await this.#eventsOf(agent.pid)
      found.compare(agent, events, this.#linesOf(agent.name), this.#model.requestsOf(agent.name))
    }
    found.invalidPrompts.push(...this.#model.complaints)
    const { live } = await this.#reeve.call((reeve) => reeve.status())
    if (live > 0) found.problems.push(`${this.#store}: ${live} processes have not ended`)
    const keeper = this.#folder.keeper()
    await this.#reeve.stop()
    found.problems.push(...(await this.#folder.remains(keeper)), ...this.#folder.complaints())
    return { ...this.#counts, ...found.report(), agents: this.#agents.length, requests: this.#model.requests }
  }

  async #eventsOf(pid: string): Promise<readonly Logged[]> {
    const all: Logged[] = []
    for (let after = 0; ; ) {
      const from = after
      const { events } = await this.#reeve.call((reeve) => reeve.events({ pid, after: from, limit: 500 }))
      for (const { type, payload } of events) all.push({ type, payload: objectOf(asJson(payload)) })
      const last = events.at(-1)
      if (last === undefined) return all
      after = last.seq
    }
  }

  #linesOf(agent: string): readonly string[] {
    try {
      return readFileSync(this.#effectsOf(agent), 'utf8').trim().split('\n')
    } catch {
      // No command has run.
      return []
    }
  }

  #progress(ms: number): string {
    const { kills, killsAtWrites } = this.#counts
    const killed = `${kills} of ${this.#options.kills} daemons killed, ${killsAtWrites} at writes`
    return `${this.#store}, ${Math.round(ms / 1000)} s: ${killed}; ${this.#agents.length} agents, ${this.#model.requests} model calls`
  }
}

interface Logged {
  readonly type: string
  readonly payload: JsonObject
}

interface Wire {
  readonly head: string
  readonly messages: readonly string[]
  readonly tail: string
}

/** Compares the log of each agent with its effects, its clients and its model. */
class Findings {
  readonly #store: SoakedStore
  readonly #counts = { turns: 0, rolledBack: 0, cancelled: 0, crashed: 0, inputs: 0, tools: 0 }
  readonly runTwice: string[] = []
  readonly lostInputs: string[] = []
  readonly invalidPrompts: string[] = []
  readonly problems: string[] = []

  constructor(store: SoakedStore) {
    this.#store = store
  }

  report() {
    const { runTwice, lostInputs, invalidPrompts, problems } = this
    return { ...this.#counts, runTwice, lostInputs, invalidPrompts, problems }
  }

  compare(
    agent: SoakedAgent,
    events: readonly Logged[],
    lines: readonly string[],
    requests: readonly Wire[],
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
        this.invalidPrompts.push(`${agent.name}, turn ${turn}: ${message}`)
      else if (reason !== 'finished' && reason !== 'rolled_back')
        this.problems.push(`${this.#store}: ${agent.name}, turn ${turn} ended with ${reason}: ${message}`)
    }
    for (const [turn, answer] of agent.stopped)
      if (!turns.some((one) => one['turn'] === turn && one['reason'] === answer))
        this.problems.push(
          `${this.#store}: ${agent.name}, turn ${turn} was ${answer} for its client, and not in the log`,
        )
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
      if (ran > 1) this.runTwice.push(what)
      if (results.length !== 1) this.problems.push(`${this.#store}: ${what}`)
      else if (results[0]?.['isError'] === false ? ran !== 1 : results[0]?.['interrupted'] !== true)
        this.problems.push(`${this.#store}: ${what}`)
    }
    const unknown = lines.filter((line) => !commands.includes(`c-${line}`))
    if (unknown.length > 0)
      this.problems.push(`${this.#store}: ${name} ran ${unknown.join(', ')}, which no call asked for`)
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
        this.lostInputs.push(`${name}, ${id}: admitted, promoted and shown ${counts.join(', ')} times`)
    }
    for (const { input } of admitted)
      if (!accepted.has(String(input))) this.problems.push(`${this.#store}: ${name} took ${input}, unasked`)
    if ([...returned].some((id) => !rolledBack.has(id)) || returned.size !== rolledBack.size)
      this.lostInputs.push(`${name}: returned ${[...returned]}, and rolled back ${[...rolledBack]}`)
  }

  /** Each request begins with the one before, but for what a roll-back removed. */
  #comparePrefixes({ name }: SoakedAgent, requests: readonly Wire[], rolledBack: ReadonlySet<string>): void {
    for (const [index, now] of requests.entries()) {
      const before = requests[index - 1]
      if (before === undefined) continue
      const what = `${name}, request ${index}`
      if (before.head !== now.head || before.tail !== now.tail)
        this.invalidPrompts.push(`${what}: settings or tools changed`)
      const at = before.messages.findIndex((message, place) => now.messages[place] !== message)
      if (at === -1) continue
      const removed = before.messages[at] ?? ''
      if (![...rolledBack].some((id) => removed.includes(textOf(name, id))))
        this.invalidPrompts.push(`${what}: message ${at} changed: ${removed.slice(0, 200)}`)
    }
  }
}

function idsOf(promoted: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(promoted.map(({ input }) => String(input)))
}

function countOf(events: readonly JsonObject[], id: string): number {
  return events.filter(({ input }) => input === id).length
}

function textOf(agent: string, id: string): string {
  return `<${agent} ${id}>`
}

/** Three of four die at a write, each write in turn, before and after its commit; the others at random. */
function killAtOf(number: number, random: Random): KillAt | null {
  if (number % 4 === 3) return null
  const turn = number - Math.floor(number / 4)
  const write = AGENT_WRITES[Math.floor(turn / 2) % AGENT_WRITES.length] ?? 'answer'
  return { write, when: turn % 2 === 0 ? 'before' : 'after', nth: random.between(1, 3) }
}

function unless(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(String(Object(error).code))) throw error
    return undefined
  }
}

function added(one: AgentSoakReport, other: AgentSoakReport): AgentSoakReport {
  return {
    kills: one.kills + other.kills,
    killsAtWrites: one.killsAtWrites + other.killsAtWrites,
    agents: one.agents + other.agents,
    turns: one.turns + other.turns,
    rolledBack: one.rolledBack + other.rolledBack,
    cancelled: one.cancelled + other.cancelled,
    crashed: one.crashed + other.crashed,
    inputs: one.inputs + other.inputs,
    tools: one.tools + other.tools,
    requests: one.requests + other.requests,
    runTwice: [...one.runTwice, ...other.runTwice],
    lostInputs: [...one.lostInputs, ...other.lostInputs],
    invalidPrompts: [...one.invalidPrompts, ...other.invalidPrompts],
    problems: [...one.problems, ...other.problems],
  }
}
