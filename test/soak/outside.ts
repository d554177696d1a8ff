import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Reeve } from 'reeve'
import { asJson, type Json, objectOf } from '../../src/core/json/json.ts'
import { killInTurn, OUTSIDE_WRITES } from './kill-at.ts'
import { type KillCounts, type KilledSoak, type KillOptions, merged, soakEach } from './killed-soak.ts'

export type OutsideSoakReport = KillCounts & {
  readonly agents: number
  readonly turns: number
  readonly updates: number
  readonly permissions: number
  /** Turns that ended because their daemon was killed five times without progress. */
  readonly crashed: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly askedTwice: readonly string[]
  readonly unanswered: readonly string[]
  readonly problems: readonly string[]
}

/** Outside agents at work at once. */
const AGENTS = 3
/** Turns of one agent: then the next begins. */
const TURNS = 4
const ROUNDS = 4
const MAX_LIFE_MS = 5_000
/** How soon the person looks for questions again. */
const LOOK_MS = 50
const PROGRAM = fileURLToPath(new URL('../fixtures/acp-agent.ts', import.meta.url))

interface Soaked {
  readonly pid: string
  readonly folder: string
  readonly turns: number
}

/** Outside agents report, and ask for permissions, while their daemon is killed. Then every update is counted. */
export async function soakOutside(options: KillOptions): Promise<OutsideSoakReport> {
  const reports = await soakEach(options, (soak) => new Run(soak).whole())
  return reports.reduce(merged)
}

class Run {
  readonly #soak: KilledSoak
  readonly #agents: Soaked[] = []

  constructor(soak: KilledSoak) {
    this.#soak = soak
  }

  async whole(): Promise<OutsideSoakReport> {
    const killing = { killAt: killInTurn(OUTSIDE_WRITES, 4), maxLifeMs: MAX_LIFE_MS }
    await this.#soak.run(() => this.#work(), killing, { progress: () => `${this.#agents.length} agents` })
    return this.#look()
  }

  async #work(): Promise<void> {
    const lives = Array.from({ length: AGENTS }, async (_, place) => {
      for (let number = 0; !this.#soak.isOver; number++) await this.#live(`o${place}-${number}`)
    })
    const done = Promise.all(lives)
    let isDone = false
    const settled = done.finally(() => {
      isDone = true
    })
    // Answers every question, as a person does.
    const answering = (async () => {
      while (!isDone) await this.#answerAll()
    })()
    await Promise.all([settled, answering])
  }

  async #answerAll(): Promise<void> {
    await this.#soak.daemons.call(async (reeve) => {
      const { approvals } = await reeve.approvals({ state: 'pending' })
      for (const { id } of approvals) await reeve.reply({ id, value: 'allow once' }).catch(ignoreRefusal)
    })
    await pause(LOOK_MS)
  }

  async #live(name: string): Promise<void> {
    const folder = join(this.#soak.folder.folder, name)
    mkdirSync(folder)
    const { daemons } = this.#soak
    const { record } = await daemons.call((reeve) =>
      reeve.spawn({
        kind: 'agent',
        cwd: folder,
        idempotencyKey: name,
        spec: {
          agent: name,
          model: 'acp/scripted',
          program: { argv: [process.execPath, PROGRAM, folder, 'resume'] },
        },
      }),
    )
    const { pid } = record
    let turns = 0
    for (let turn = 1; turn <= TURNS && (turn === 1 || !this.#soak.isOver); turn++) {
      await daemons.call((reeve) => reeve.runAgent({ pid, id: `i${turn}`, text: stepsOf(turn) }))
      turns = turn
      if (turn === 1) this.#agents.push({ pid, folder, turns: 0 })
      for (let isIdle = false; !isIdle; )
        isIdle = await daemons.call(async (reeve) => {
          const waited = await reeve.waitAgent({ pid, timeoutMs: 30_000 })
          return waited.type !== 'timed_out' && waited.type !== 'interrupted' && waited.turn?.turn === turn
        })
    }
    this.#agents.splice(
      this.#agents.findIndex((one) => one.pid === pid),
      1,
      { pid, folder, turns },
    )
    await daemons.call((reeve) => reeve.shutDownAgent({ pid, id: 'end' }))
    await daemons.call((reeve) => allEnded(reeve, pid))
  }

  async #look(): Promise<OutsideSoakReport> {
    const found = {
      lost: [] as string[],
      doubled: [] as string[],
      askedTwice: [] as string[],
      unanswered: [] as string[],
      problems: [] as string[],
    }
    let updates = 0
    let permissions = 0
    let turns = 0
    let crashed = 0
    for (const agent of this.#agents) {
      turns += agent.turns
      const { said, ended } = await this.#loggedBy(agent.pid)
      for (let turn = 1; turn <= agent.turns; turn++) {
        if (ended.get(turn) === 'crashed') {
          crashed += 1
          continue
        }
        const expected = wordsOf(turn)
        updates += expected.length
        const words = (said.get(turn) ?? '').split(' ').filter((word) => word !== '')
        const name = `${this.#soak.store} ${agent.pid} turn ${turn}`
        const lost = expected.filter((word) => !words.includes(word))
        if (lost.length > 0) found.lost.push(`${name}: ${lost.join(' ')} lost`)
        if (new Set(words).size < words.length) found.doubled.push(`${name}: ${words.join(' ')}`)
        if (lost.length === 0 && words.length === expected.length && words.join() !== expected.join())
          found.problems.push(`${name}: out of order: ${words.join(' ')}`)
        if (ended.get(turn) !== 'finished') found.unanswered.push(`${name}: ${ended.get(turn)}`)
      }
      const heard = linesOf(join(agent.folder, 'heard'))
      const asked = await this.#questionsOf(agent.pid)
      const answered = heard.filter((line) => line.startsWith('permission ')).length
      permissions += answered
      if ([...ended.values()].includes('crashed')) continue
      if (asked > agent.turns * ROUNDS) found.askedTwice.push(`${agent.pid}: ${asked} questions`)
      if (answered !== agent.turns * ROUNDS || heard.some((line) => line.endsWith('cancelled')))
        found.problems.push(`${agent.pid}: ${answered} of ${agent.turns * ROUNDS} permissions answered`)
      const prompts = heard.filter((line) => line.startsWith('prompt ')).length
      if (prompts !== agent.turns)
        found.problems.push(`${agent.pid}: ${prompts} prompts in ${agent.turns} turns`)
    }
    found.problems.push(...(await this.#soak.stop()))
    return {
      ...this.#soak.counts,
      ...found,
      agents: this.#agents.length,
      turns,
      crashed,
      updates,
      permissions,
    }
  }

  /** What the log has of each turn: the text, with tools as words, and its reason. */
  async #loggedBy(pid: string) {
    const said = new Map<number, string>()
    const ended = new Map<number, string>()
    for (let after = 0; ; ) {
      const from = after
      const { events } = await this.#soak.daemons.call((reeve) =>
        reeve.events({ pid, after: from, limit: 500 }),
      )
      for (const { type, payload: given } of events) {
        const payload = objectOf(asJson(given))
        const turn = Number(payload['turn'])
        const parts = Array.isArray(payload['parts']) ? payload['parts'] : []
        const text = parts.map((part: Json) => String(objectOf(part)['text'] ?? '')).join('')
        const add = (words: string) => said.set(turn, `${said.get(turn) ?? ''}${words}`)
        if (type === 'assistant_item') add(text)
        if (type === 'tool_called') add(` ${String(payload['callId'])} `)
        if (type === 'tool_answered') add(` ${text} `)
        if (type === 'turn_ended') ended.set(turn, String(payload['reason']))
      }
      const last = events.at(-1)
      if (last === undefined) return { said, ended }
      after = last.seq
    }
  }

  async #questionsOf(pid: string): Promise<number> {
    const filter = { parent: pid, kind: 'tool', status: 'any' } as const
    const { processes } = await this.#soak.daemons.call((reeve) => reeve.list({ filter, limit: 100 }))
    return processes.length
  }
}

/** The script of a turn: text, a tool call that asks first, and its result, several times. Every word occurs once. */
function stepsOf(turn: number): string {
  return rounds(turn)
    .flatMap(({ first, tool, result }) => [
      `say ${first.join(' ')}`,
      `ask ${tool} run`,
      `done ${tool} ${result}`,
    ])
    .join('\n')
}

function wordsOf(turn: number): readonly string[] {
  return rounds(turn).flatMap(({ first, tool, result }) => [...first, tool, result])
}

function rounds(turn: number) {
  return Array.from({ length: ROUNDS }, (_, round) => {
    const at = `${turn}.${round}`
    return { first: [1, 2, 3, 4, 5].map((word) => `w${at}.${word}`), tool: `t${at}`, result: `r${at}` }
  })
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** The agent, and the program below it. */
async function allEnded(reeve: Reeve, pid: string): Promise<void> {
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command' } })
  for (const one of [pid, ...processes.map(({ record }) => record.pid)])
    while ((await reeve.wait({ pid: one })).type !== 'ended');
}

/** It was answered before its daemon was killed, or has ended. */
function ignoreRefusal(error: unknown): void {
  const { code } = Object(error)
  if (code === 'daemon_unreachable' || code === undefined) throw error
}
