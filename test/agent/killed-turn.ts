import { defineTool, type Embedded, embed, type ToolDefinition } from 'reeve'
import { expect } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { Store } from '../../src/store/contract.ts'
import { type Death, DyingStore, type LivingHolders } from '../dying-store.ts'
import { type StrictAnswer, type StrictProvider, strictProvider } from '../model/strict-provider.ts'
import { TEST_PRESET } from '../test-preset.ts'
import { payloads } from './scripted-agent.ts'

/** The tool calls of each answer of the first turn. `deploy` needs an approval, `look` may run again, and `note` must not. */
const CALLS: readonly (readonly string[])[] = [
  ['note'],
  ['note', 'look', 'note'],
  ['deploy'],
  ['note', 'note', 'note', 'look'],
  ['look', 'look'],
  ['note', 'deploy', 'note'],
  ['note'],
  ['note', 'note'],
]
/** Inputs are sent when the model is asked for this answer. */
const INPUTS_AT = 2
const INPUTS = [
  { id: 'steered', text: '<steered>', mode: 'steer' },
  { id: 'queued', text: '<queued>', mode: 'queue' },
] as const
const TEXTS = ['<goal>', ...INPUTS.map(({ text }) => text)]
const TURNS = 2
const INTERRUPTED = 'Interrupted; its effect is unverified, check before repeating.'

/** Agents whose kernels die, one after the other over one store and with one strict provider. */
export class KilledTurns {
  readonly store: Store
  readonly living: LivingHolders = new Set()
  readonly #provider: StrictProvider
  readonly #open: { turn: KilledTurn | null }

  private constructor(store: Store, provider: StrictProvider, open: { turn: KilledTurn | null }) {
    this.store = store
    this.#provider = provider
    this.#open = open
  }

  static async over(store: Store): Promise<KilledTurns> {
    const open: { turn: KilledTurn | null } = { turn: null }
    const provider = await strictProvider((messages) => {
      const answers = messages.filter(({ role }) => role === 'assistant').length
      open.turn?.asked(answers)
      return answerAt(answers)
    })
    return new KilledTurns(store, provider, open)
  }

  get url(): string {
    return this.#provider.url
  }

  /** `repeatsNotes`: a planted bug. The first note kills its kernel, and the next kernel runs it again. */
  begin(name: string, { repeatsNotes = false } = {}): KilledTurn {
    this.#open.turn = new KilledTurn(name, this, repeatsNotes)
    return this.#open.turn
  }

  /** The bodies of the requests of one agent; none was refused. */
  requestsOf(name: string): readonly string[] {
    expect(this.#provider.complaints).toEqual([])
    return this.#provider.requests.map(({ body }) => body).filter((body) => JSON.parse(body).model === name)
  }
}

function answerAt(place: number): StrictAnswer {
  const calls = CALLS[place]
  if (calls === undefined) return { text: `Answer ${place}.` }
  return {
    ...(place % 2 === 0 ? { text: `Step ${place}.` } : {}),
    calls: calls.map((name, index) => {
      const at = `${place}.${index}`
      return { id: `call-${at}`, name, text: JSON.stringify({ at }) }
    }),
  }
}

/** One agent. What its tools do is counted here, outside of Reeve. */
class KilledTurn {
  readonly #name: string
  readonly #all: KilledTurns
  readonly #repeatsNotes: boolean
  readonly #effects = new Map<string, number>()
  readonly #mayTakeInputs = Promise.withResolvers<void>()
  readonly #kernels: Embedded[] = []
  readonly #dying: DyingStore[] = []
  readonly #troubles: unknown[] = []
  #approved = 0

  constructor(name: string, all: KilledTurns, repeatsNotes: boolean) {
    this.#name = name
    this.#all = all
    this.#repeatsNotes = repeatsNotes
  }

  /** The model is asked for the answer at this place. */
  asked(place: number): void {
    if (place >= INPUTS_AT) this.#mayTakeInputs.resolve()
  }

  /** Runs one kernel until it dies, or until the agent has done everything. */
  async live(death: Death | null): Promise<{ readonly died: boolean; readonly writes: number }> {
    const dying = new DyingStore(this.#all.store, death, this.#all.living)
    this.#dying.push(dying)
    const played = this.#play(dying).then(() => false)
    const died = await Promise.race([dying.death.then(() => true), played])
    if (died) played.catch(() => undefined)
    return { died, writes: dying.writes }
  }

  /** Compares the log with the effects, and closes the last kernel. */
  async check(): Promise<void> {
    const last = this.#kernels.at(-1)
    if (last === undefined) throw new Error('No kernel has begun')
    try {
      await this.#compare(last)
    } finally {
      await last.close()
    }
    expect(this.#troubles).toEqual([])
  }

  async #play(dying: DyingStore): Promise<void> {
    const reeve = await embed({
      store: dying.store,
      tools: this.#tools(dying),
      modelOptions: {
        providers: { strict: { type: 'openai-compatible', baseURL: `${this.#all.url}/v1` } },
      },
      onTrouble: (error) => dying.isDead || this.#troubles.push(error),
      ...TEST_PRESET,
    })
    this.#kernels.push(reeve)
    await reeve.addRule({ rule: { id: 'deploy', effect: 'ask', resource: 'tool:deploy' } }).catch(unlessTaken)
    const pid = await this.#spawn(reeve)
    const over = new AbortController()
    const approving = this.#approve(reeve, over.signal)
    await this.#mayTakeInputs.promise
    // As a client does that got no answer: the same input again.
    for (const input of INPUTS) await reeve.runAgent({ pid, ...input })
    await reeve.waitAgent({ pid, turn: TURNS })
    await reeve.waitAgent({ pid })
    over.abort()
    await approving
  }

  async #spawn(reeve: Embedded): Promise<string> {
    const spec = { agent: 'coder', model: `strict/${this.#name}`, goal: '<goal>' }
    const { record } = await reeve.spawn({ kind: 'agent', idempotencyKey: this.#name, spec })
    return record.pid
  }

  /** A person who approves every deployment. */
  async #approve(reeve: Embedded, signal: AbortSignal): Promise<void> {
    const after = reeve.position()
    await this.#approveAll(reeve)
    for await (const { type } of reeve.follow({ after }, { signal }))
      if (type === 'approval_requested') await this.#approveAll(reeve)
  }

  async #approveAll(reeve: Embedded): Promise<void> {
    const { approvals } = await reeve.approvals({})
    for (const { id } of approvals) {
      this.#approved += 1
      await reeve.approve({ id })
    }
  }

  #tools(dying: DyingStore): readonly ToolDefinition[] {
    const tool = (name: string, recovery: 'bound' | 'rerunnable') =>
      defineTool({
        name,
        description: name,
        input: z.object({ at: z.string() }),
        recovery,
        run: async ({ at }) => {
          // A dead program runs nothing.
          if (dying.isDead) return new Promise<never>(() => {})
          if (name === 'deploy') expect(this.#approved).toBeGreaterThan(0)
          this.#effects.set(at, (this.#effects.get(at) ?? 0) + 1)
          if (this.#repeatsNotes && this.#deaths === 0) {
            dying.die()
            return new Promise<never>(() => {})
          }
          return `done ${at}`
        },
      })
    return [
      tool('note', this.#repeatsNotes ? 'rerunnable' : 'bound'),
      tool('look', 'rerunnable'),
      tool('deploy', 'bound'),
    ]
  }

  async #compare(reeve: Embedded): Promise<void> {
    const pid = await this.#spawn(reeve)
    const turns = await payloads(reeve, pid, 'turn_ended')
    expect(turns.map(({ reason }) => reason)).toEqual(turns.map(() => 'finished'))
    expect(turns).toHaveLength(TURNS)
    await this.#compareCalls(await payloads(reeve, pid, 'tool_answered'))
    this.#compareRequests(await payloads(reeve, pid, 'input_promoted'))
  }

  /** Each call has one result; a result that says it ran, ran once. At most the calls of one answer may be interrupted by a death. */
  async #compareCalls(answered: readonly JsonObject[]): Promise<void> {
    const expected = CALLS.flatMap((names, place) =>
      names.map((name, index) => ({ name, at: `${place}.${index}` })),
    )
    expect(answered.map(({ callId }) => callId).sort()).toEqual(expected.map(({ at }) => `call-${at}`).sort())
    let interrupted = 0
    for (const { name, at } of expected) {
      const { parts, isError } = answered.find(({ callId }) => callId === `call-${at}`) ?? {}
      const ran = this.#effects.get(at) ?? 0
      const what = `${name} ${at} ran ${ran} times: ${JSON.stringify(parts)}`
      if (name === 'look')
        expect([isError, ran >= 1, ran <= 1 + this.#deaths], what).toEqual([false, true, true])
      else if (isError === true) {
        interrupted += 1
        expect(JSON.stringify(parts), what).toContain(INTERRUPTED)
        expect(ran, what).toBeLessThanOrEqual(1)
      } else expect(ran, what).toBe(1)
    }
    expect(interrupted).toBeLessThanOrEqual(MAX_PARALLEL * this.#deaths)
  }

  /** The model got each input once, and no more calls than there are answers and deaths. */
  #compareRequests(promoted: readonly JsonObject[]): void {
    expect(promoted.map(({ input }) => input).sort()).toEqual(['goal', 'queued', 'steered'])
    const requests = this.#all.requestsOf(this.#name)
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

  get #deaths(): number {
    return this.#dying.filter(({ isDead }) => isDead).length
  }
}

const MAX_PARALLEL = Math.max(...CALLS.map(({ length }) => length))

/** A killed kernel had added the rule. */
function unlessTaken(error: unknown): void {
  if (Object(error).code !== 'conflict') throw error
}
