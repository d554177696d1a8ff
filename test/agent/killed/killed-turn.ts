import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedded } from 'reeve'
import { expect } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { startProgram } from '../../crash/program.ts'
import type { Death } from '../../dying-store.ts'
import type { KilledLife } from '../../fixtures/killed-turn.ts'
import { type StrictProvider, strictProvider } from '../../model/strict-provider.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { payloads } from '../scripted-agent.ts'
import { playTurn, type TurnPlan, turnOptions } from './play-turn.ts'
import { answerAt, CALLS, GOAL, INPUTS, TURNS } from './turn-script.ts'

const TEXTS = [GOAL, ...INPUTS.map(({ text }) => text)]
const INTERRUPTED = 'Interrupted; its effect is unverified, check before repeating.'

/** Agents whose programs are killed, one after the other over one store, with one keeper and one strict provider. */
export class KilledTurns {
  readonly #address: string
  readonly #temp = new TempReeve()
  readonly #provider: StrictProvider
  readonly #open: { effects: string }

  private constructor(address: string, provider: StrictProvider, open: { effects: string }) {
    this.#address = address
    this.#provider = provider
    this.#open = open
  }

  static async over(address: string): Promise<KilledTurns> {
    const open = { effects: '' }
    const provider = await strictProvider((messages) =>
      answerAt(messages.filter(({ role }) => role === 'assistant').length, open.effects),
    )
    return new KilledTurns(address, provider, open)
  }

  /** `repeatsNotes`: a planted bug. The first note kills its program, and the next one runs it again. */
  begin(name: string, { repeatsNotes = false } = {}): KilledTurn {
    const effects = join(this.#temp.folder, `effects-${name}`)
    this.#open.effects = effects
    return new KilledTurn(this, { name, url: this.#provider.url, effects, repeatsNotes })
  }

  /** A program that drives the agent until it is killed. Returns how many writes it made, or null if it was killed. */
  async live(turn: TurnPlan, death: Death | null): Promise<number | null> {
    const life: KilledLife = {
      store: this.#address,
      commands: this.#temp.keeperHome.folder,
      turn,
      death,
    }
    const program = await startProgram('killed-turn', [JSON.stringify(life)])
    await program.ended()
    const writes = program.said.find((line) => 'writes' in line)?.['writes']
    return writes === undefined ? null : Number(writes)
  }

  /** The last program, which is this one, does the rest. Its answers are compared before it is closed. */
  async finish(turn: TurnPlan, compare: (reeve: Embedded, pid: string) => Promise<void>): Promise<void> {
    const { troubles } = this.#temp
    const reeve = await this.#temp.embed({}, { store: this.#address, ...turnOptions(turn) })
    try {
      await compare(reeve, await playTurn(reeve, turn))
    } finally {
      await reeve.close()
    }
    expect(troubles).toEqual([])
  }

  /** The bodies of the requests of one agent; none was refused. */
  requestsOf(name: string): readonly string[] {
    expect(this.#provider.complaints).toEqual([])
    return this.#provider.requests.map(({ body }) => body).filter((body) => JSON.parse(body).model === name)
  }
}

/** One agent. What its tools do is counted in a file, outside of Reeve. */
class KilledTurn {
  readonly #all: KilledTurns
  readonly #plan: TurnPlan
  #deaths = 0

  constructor(all: KilledTurns, plan: TurnPlan) {
    this.#all = all
    this.#plan = plan
  }

  /** One program. Returns how many writes it made, or null if it was killed. */
  async live(death: Death | null): Promise<number | null> {
    const writes = await this.#all.live(this.#plan, death)
    if (writes === null) this.#deaths += 1
    return writes
  }

  /** Lets the agent finish, and compares its log with the effects and the requests. */
  check(): Promise<void> {
    return this.#all.finish(this.#plan, async (reeve, pid) => {
      const turns = await payloads(reeve, pid, 'turn_ended')
      expect(turns.map(({ reason }) => reason)).toEqual(turns.map(() => 'finished'))
      expect(turns).toHaveLength(TURNS)
      this.#compareCalls(await payloads(reeve, pid, 'tool_answered'))
      this.#compareRequests(await payloads(reeve, pid, 'input_promoted'))
    })
  }

  /**
   * Each call has one result. A result that says it ran, ran once. At most the calls of one answer may be interrupted by a death. A command goes
   * on without its daemon, so its result is always known.
   */
  #compareCalls(answered: readonly JsonObject[]): void {
    const expected = CALLS.flatMap((names, place) =>
      names.map((name, index) => ({ name, at: `${place}.${index}` })),
    )
    expect(answered.map(({ callId }) => callId).sort()).toEqual(expected.map(({ at }) => `call-${at}`).sort())
    const lines = readFileSync(this.#plan.effects, 'utf8').trim().split('\n')
    let interrupted = 0
    for (const { name, at } of expected) {
      const { parts, isError } = answered.find(({ callId }) => callId === `call-${at}`) ?? {}
      const ran = lines.filter((line) => line === at).length
      const what = `${name} ${at} ran ${ran} times: ${JSON.stringify(parts)}`
      if (name === 'look')
        expect([isError, ran >= 1, ran <= 1 + this.#deaths], what).toEqual([false, true, true])
      else if (isError === true && name !== 'command') {
        interrupted += 1
        expect(JSON.stringify(parts), what).toContain(INTERRUPTED)
        expect(ran, what).toBeLessThanOrEqual(1)
      } else expect([isError, ran], what).toEqual([false, 1])
    }
    expect(interrupted).toBeLessThanOrEqual(MAX_PARALLEL * this.#deaths)
  }

  /** The model got each input once, and no more calls than there are answers and deaths. */
  #compareRequests(promoted: readonly JsonObject[]): void {
    expect(promoted.map(({ input }) => input).sort()).toEqual(['goal', 'queued', 'steered'])
    const requests = this.#all.requestsOf(this.#plan.name)
    const { messages } = JSON.parse(requests.at(-1) ?? '') as { messages: readonly object[] }
    for (const text of TEXTS)
      expect(
        messages.filter((message) => JSON.stringify(message).includes(text)),
        text,
      ).toHaveLength(1)
    const answers = CALLS.length + TURNS
    expect(requests.length).toBeGreaterThanOrEqual(answers)
    expect(requests.length).toBeLessThanOrEqual(answers + this.#deaths)
  }
}

const MAX_PARALLEL = Math.max(...CALLS.map(({ length }) => length))
