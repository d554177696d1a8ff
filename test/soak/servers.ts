import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Reeve } from 'reeve'
import { asJson, type Json, type JsonObject, objectOf } from '../../src/core/json/json.ts'
import { killInTurn, SERVER_WRITES } from './kill-at.ts'
import { type KillCounts, type KilledSoak, type KillOptions, merged, soakEach } from './killed-soak.ts'

export type ServerSoakReport = KillCounts & {
  readonly agents: number
  readonly turns: number
  /** Turns that ended because their daemon was killed five times without progress. */
  readonly crashed: number
  readonly calls: number
  /** Calls that began under one daemon and went on in another. */
  readonly carried: number
  readonly questions: number
  /** Servers that were killed in the middle of a call. */
  readonly serversKilled: number
  readonly sentTwice: readonly string[]
  /** Answers that the agent did not get, and calls of killed servers that it was not told about. */
  readonly lost: readonly string[]
  readonly askedTwice: readonly string[]
  readonly problems: readonly string[]
}

/** Agents at work at once, each with a server of its own. */
const AGENTS = 3
/** Turns of one agent: then the next begins. */
const TURNS = 3
/** How long a slow call takes: a kill falls into it. */
const SLOW_MS = 400
const MAX_LIFE_MS = 5_000
/** How soon the person looks for questions again. */
const LOOK_MS = 50
const PAGE = 500
const PROGRAM = fileURLToPath(new URL('../fixtures/mcp-server.ts', import.meta.url))

type Tool = 'echo' | 'slow' | 'ask' | 'die'

interface Soaked {
  readonly name: string
  readonly pid: string
  readonly folder: string
  readonly turns: number
}

/** Agents call tools of MCP servers on standard input and output while daemons and servers are killed. Then every call is counted. */
export async function soakServers(options: KillOptions): Promise<ServerSoakReport> {
  const reports = await soakEach(options, (soak) => new Run(soak).whole())
  return reports.reduce(merged)
}

class Run {
  readonly #soak: KilledSoak
  readonly #agents: Soaked[] = []
  readonly #counts = { turns: 0, crashed: 0, calls: 0, carried: 0, questions: 0, serversKilled: 0 }
  readonly #found = {
    sentTwice: [] as string[],
    lost: [] as string[],
    askedTwice: [] as string[],
    problems: [] as string[],
  }

  constructor(soak: KilledSoak) {
    this.#soak = soak
  }

  async whole(): Promise<ServerSoakReport> {
    const killing = { killAt: killInTurn(SERVER_WRITES, 3), maxLifeMs: MAX_LIFE_MS }
    await this.#soak.run(() => this.#work(), killing, { progress: () => `${this.#agents.length} agents` })
    const asked = await this.#questions()
    for (const agent of this.#agents) await this.#compare(agent, asked)
    this.#found.problems.push(...(await this.#soak.stop()))
    return { ...this.#soak.counts, ...this.#counts, ...this.#found, agents: this.#agents.length }
  }

  async #work(): Promise<void> {
    const lives = Array.from({ length: AGENTS }, async (_, place) => {
      for (let number = 0; !this.#soak.isOver; number++) await this.#live(`m${place}-${number}`)
    })
    let isDone = false
    const done = Promise.all(lives).finally(() => {
      isDone = true
    })
    // Answers every question, as a person does.
    const answering = (async () => {
      while (!isDone) await this.#answerAll()
    })()
    await Promise.all([done, answering])
  }

  async #answerAll(): Promise<void> {
    await this.#soak.daemons.call(async (reeve) => {
      const { approvals } = await reeve.approvals({ state: 'pending' })
      for (const { id } of approvals) await reeve.reply({ id, value: 'red' }).catch(ignoreRefusal)
    })
    await pause(LOOK_MS)
  }

  async #live(name: string): Promise<void> {
    const folder = join(this.#soak.folder.folder, name)
    mkdirSync(folder)
    writeFileSync(join(folder, 'script.json'), JSON.stringify({ answers: answersOf(name) }))
    const { daemons } = this.#soak
    const kept = { type: 'command' as const, argv: [process.execPath, PROGRAM, folder] }
    const spec = { agent: name, model: 'scripted/script.json', mcpServers: { kept } }
    const { record } = await daemons.call((reeve) =>
      reeve.spawn({ kind: 'agent', cwd: folder, idempotencyKey: name, spec }),
    )
    const { pid } = record
    let turn = 1
    for (let isCrashed = false; turn <= TURNS && !isCrashed && (turn === 1 || !this.#soak.isOver); turn++) {
      await daemons.call((reeve) => reeve.runAgent({ pid, id: `i${turn}`, text: `turn ${turn}` }))
      isCrashed = (await this.#endOf(pid, turn)) === 'crashed'
    }
    this.#agents.push({ name, pid, folder, turns: turn - 1 })
    await daemons.call((reeve) => reeve.shutDownAgent({ pid, id: 'end' }))
    await daemons.call((reeve) => allEnded(reeve, pid))
  }

  async #endOf(pid: string, turn: number): Promise<string> {
    for (;;) {
      const ended = await this.#soak.daemons.call(async (reeve) => {
        const waited = await reeve.waitAgent({ pid, turn, timeoutMs: 30_000 })
        return waited.type === 'timed_out' || waited.type === 'interrupted' ? undefined : waited.turn
      })
      if (ended?.turn === turn) return ended.reason
    }
  }

  /** How often each question was asked, by its token. */
  async #questions(): Promise<ReadonlyMap<string, number>> {
    const asked = new Map<string, number>()
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after
      const { approvals, next } = await this.#soak.daemons.call((reeve) =>
        reeve.approvals({ state: 'any', after: from, limit: PAGE }),
      )
      for (const { request } of approvals) {
        const token = 'text' in request ? /Which colour has (\S+)\?/.exec(request.text)?.[1] : undefined
        if (token === undefined) this.#found.problems.push(`an odd request: ${JSON.stringify(request)}`)
        else asked.set(token, (asked.get(token) ?? 0) + 1)
      }
      after = next
    }
    return asked
  }

  async #compare(agent: Soaked, asked: ReadonlyMap<string, number>): Promise<void> {
    const { name, pid, folder, turns } = agent
    const events = await this.#eventsOf(pid)
    const payloads = (type: string) =>
      events.filter((event) => event.type === type).map(({ payload }) => payload)
    const ended = payloads('turn_ended').map(({ reason }) => String(reason))
    const crashed = ended.filter((reason) => reason === 'crashed').length
    this.#counts.turns += turns
    this.#counts.crashed += crashed
    for (const reason of ended.filter((one) => one !== 'crashed' && one !== 'finished'))
      this.#found.problems.push(`${this.#soak.store} ${name}: a turn ended with ${reason}`)
    const heard = linesOf(join(folder, 'calls'))
    const times = (line: string) => heard.filter((one) => one === line).length
    const called = payloads('tool_called').map(({ callId }) => String(callId))
    const whole = turns - crashed
    for (const callId of Array.from({ length: whole }, (_, turn) => callsOf(name, turn + 1)).flat())
      if (!called.includes(callId)) this.#found.lost.push(`${name}: ${callId} was not called`)
    for (const token of called) {
      const tool = toolOf(token)
      const results = payloads('tool_answered').filter(({ callId }) => callId === token)
      const what = `${this.#soak.store} ${token}: ${times(`call ${token}`)} calls, ${JSON.stringify(results)}`
      this.#counts.calls += 1
      if (times(`call ${token}`) > 1) this.#found.sentTwice.push(what)
      // The results of a turn that crashed may say that they are not known.
      const isKnown = crashed === 0 || !token.startsWith(`${name}.${turns}.`)
      if (results.length !== 1) this.#found.lost.push(what)
      else if (isKnown && !isRight(tool, token, objectOf(results[0] ?? {}))) this.#found.lost.push(what)
      if (tool === 'die') this.#counts.serversKilled += times(`call ${token}`)
      if (tool !== 'ask') continue
      this.#counts.questions += asked.get(token) ?? 0
      if ((asked.get(token) ?? 0) > 1 || times(`reply ${token}`) > 1)
        this.#found.askedTwice.push(`${what}: asked ${asked.get(token)}, replied ${times(`reply ${token}`)}`)
    }
    const { processes } = await this.#soak.daemons.call((reeve) =>
      reeve.list({ filter: { parent: pid, kind: 'tool', status: 'any' }, limit: PAGE }),
    )
    this.#counts.carried += processes.filter(({ record }) => record.attempts > 1).length
  }

  async #eventsOf(pid: string): Promise<readonly { readonly type: string; readonly payload: JsonObject }[]> {
    const all: { readonly type: string; readonly payload: JsonObject }[] = []
    for (let after = 0; ; ) {
      const from = after
      const { events } = await this.#soak.daemons.call((reeve) =>
        reeve.events({ pid, after: from, limit: PAGE }),
      )
      all.push(...events.map(({ type, payload }) => ({ type, payload: objectOf(asJson(payload)) })))
      const last = events.at(-1)
      if (last === undefined) return all
      after = last.seq
    }
  }
}

/** What a turn calls, in rounds: the calls of one round are made at once. */
const ROUNDS: readonly (readonly Tool[])[] = [['echo'], ['slow', 'ask'], ['die'], ['slow']]

function roundsOf(name: string, turn: number): readonly (readonly string[])[] {
  return ROUNDS.map((tools, round) => tools.map((tool) => `${name}.${turn}.${round}.${tool}`))
}

function callsOf(name: string, turn: number): readonly string[] {
  return roundsOf(name, turn).flat()
}

function toolOf(token: string): Tool {
  return token.split('.').at(-1) as Tool
}

/** The script of the model. The id of a call is its token. */
function answersOf(name: string): readonly object[] {
  return Array.from({ length: TURNS }, (_, index) => [
    ...roundsOf(name, index + 1).map((tokens) => ({
      parts: tokens.map((token) => ({
        tool: `mcp__kept__${toolOf(token)}`,
        id: token,
        input: { token, ms: SLOW_MS },
      })),
    })),
    { parts: [{ text: `done ${index + 1}` }] },
  ]).flat()
}

function isRight(tool: Tool, token: string, { isError, parts }: JsonObject): boolean {
  const text = (Array.isArray(parts) ? parts : [])
    .map((part: Json) => String(objectOf(part)['text'] ?? ''))
    .join('')
  if (tool === 'die') return isError === true && /effect is unknown/.test(text)
  return isError === false && text === `${tool} ${token}${tool === 'ask' ? ' red' : ''}`
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** The agent, and its servers. */
async function allEnded(reeve: Reeve, pid: string): Promise<void> {
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command' } })
  for (const one of [pid, ...processes.map(({ record }) => record.pid)])
    while ((await reeve.wait({ pid: one })).type !== 'ended');
}

/** The question was answered before its daemon was killed, or has ended. */
function ignoreRefusal(error: unknown): void {
  const { code } = Object(error)
  if (code === 'daemon_unreachable' || code === undefined) throw error
}
