import { connect, type Embedded, type InputOf, type Reeve } from 'reeve'
import { expect, onTestFinished } from 'vitest'
import type { AgentAct } from '../../src/core/agent/act.ts'
import { NATIVE_AGENT } from '../../src/core/process/record.ts'
import { embedWith } from '../../src/embed/embed.ts'
import type { Executor, Work } from '../../src/kernel/executor.ts'
import type { Kernel } from '../../src/kernel/kernel.ts'
import { serve } from '../../src/server/server.ts'
import { newTokenText, type StoredToken, tokenHash } from '../../src/server/tokens.ts'
import { openMemory } from '../../src/store/memory/open.ts'
import { type Asking, ask, type Said } from '../server/ask.ts'
import { TEST_PRESET } from '../test-preset.ts'

type Spec = Partial<Extract<InputOf<'spawn'>, { kind: 'agent' }>['spec']>

/**
 * A server over HTTP, whose kernel executes agents as a test says: each turn has one model call with output, which asks
 * for one tool, and then nothing happens until the test acts.
 */
export class ServedAgents {
  readonly embedded: Embedded
  /** A client of the server. */
  readonly reeve: Reeve
  readonly tokens: TestTokens
  readonly #url: string
  readonly #held: Map<string, Held>

  constructor(
    { embedded, reeve, url, tokens }: Pick<ServedAgents, 'embedded' | 'reeve' | 'tokens'> & { url: string },
    held: Map<string, Held>,
  ) {
    this.embedded = embedded
    this.reeve = reeve
    this.tokens = tokens
    this.#url = url
    this.#held = held
  }

  /** One request, as in `POST /v1/agents/p_…/run`. */
  ask(
    what: string,
    { token = this.tokens.create({ role: 'admin' }), ...asking }: Asking = {},
  ): Promise<Said> {
    return ask({ home: { socket: '' }, url: this.#url }, what, { token, ...asking })
  }

  /** Another client, with a token of its own. */
  async client(of: Parameters<TestTokens['create']>[0]): Promise<Reeve> {
    const client = await connect({ url: this.#url, token: this.tokens.create(of) })
    onTestFinished(() => client.close())
    return client
  }

  async idle(spec: Spec = {}, more: object = {}): Promise<string> {
    const whole = { agent: 'coder', model: 'scripted/held', ...spec }
    const { record } = await this.reeve.spawn({ kind: 'agent', spec: whole, ...more })
    return record.pid
  }

  /** In its first turn, with output and an open tool call. */
  async running(spec: Spec = {}, more: object = {}): Promise<string> {
    const pid = await this.idle({ goal: 'build', ...spec }, more)
    await this.held(pid)
    return pid
  }

  async paused(): Promise<string> {
    const pid = await this.running()
    expect(await this.reeve.pauseAgent({ pid, id: 'first pause' })).toEqual({ type: 'paused', turn: 1 })
    return pid
  }

  /** Its executor is in a turn, and waits for the test. */
  held(pid: string): Promise<Held> {
    const known = this.#held.get(pid) ?? heldLater()
    this.#held.set(pid, known)
    return known.begun.then(() => known)
  }

  /** Answers the tool call, and ends the turn after one more model call. */
  async finish(pid: string, result = 'done', turn = 1): Promise<void> {
    const { act } = await this.held(pid)
    await act({ type: 'record_result', turn, call: 1, index: 0, parts: text('ok'), isError: false })
    await act({ type: 'begin_call', turn, call: 2, model: MODEL })
    await act({
      type: 'record_answer',
      turn,
      call: 2,
      model: MODEL,
      items: [{ type: 'item', parts: text(result) }],
    })
    await act({ type: 'end_turn', turn, reason: 'finished', result })
  }
}

const MODEL = 'scripted/held'

interface Held {
  readonly begun: Promise<void>
  begin(): void
  act(act: AgentAct): Promise<unknown>
  /** Records the use of a model call, and charges it. */
  use(call: number, cost: number | null): Promise<unknown>
}

function heldLater(): Held {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const none = () => Promise.reject(new Error('It is not executed'))
  return { begun, begin, act: none, use: none }
}

/** Executes agents as far as the first tool call of a turn, and then waits for the test. */
class HeldAgents implements Executor {
  readonly serves = [{ kind: 'agent', targets: [NATIVE_AGENT] }] as const
  readonly #held: Map<string, Held>

  constructor(held: Map<string, Held>) {
    this.#held = held
  }

  async run(work: Work, kernel: Kernel): ReturnType<Executor['run']> {
    const { pid, agent } = work.record
    const known = this.#held.get(pid) ?? heldLater()
    this.#held.set(pid, known)
    const turn = agent?.turn?.number ?? 0
    const act = (one: AgentAct) => kernel.agents.act(work, one)
    const use = (call: number, cost: number | null) => {
      const tokens = { inputTokens: 100, cachedInputTokens: 40, outputTokens: 10 }
      const usage = { turn, call, model: MODEL, ...tokens, cost, isEstimate: false }
      const amounts = { tokensIn: 100, tokensOut: 10, ...(cost === null ? {} : { cost }) }
      return kernel.agents.recordUsage(work, { type: 'record_usage', ...usage }, amounts)
    }
    Object.assign(known, { act, use })
    const over = Promise.withResolvers<void>()
    // A stop during the first acts rejects it before it is awaited.
    over.promise.catch(() => undefined)
    const stopListening = kernel.feed.on(pid, (events) => {
      if (events?.some(({ type }) => type === 'turn_ended') === true) over.resolve()
    })
    work.signal.addEventListener('abort', () => over.reject(work.signal.reason))
    try {
      if (agent?.turn?.calls === 0) {
        await act({ type: 'begin_call', turn, call: 1, model: MODEL })
        await act({ type: 'begin_output', turn, call: 1 })
        await act({ type: 'record_answer', turn, call: 1, model: MODEL, items: [CALL] })
      }
      known.begin()
      await over.promise
      this.#held.delete(pid)
      const row = await kernel.edges.store.ask({ ask: 'process', pid })
      if (row?.record.outcome !== null) return { status: 'parked' }
      // A turn that follows at once is another attempt.
      if (row.record.agent?.turn !== null) return { status: 'left' }
      await act({ type: 'go_idle' })
      return { status: 'parked' }
    } finally {
      stopListening()
    }
  }
}

export async function serveAgents(): Promise<ServedAgents> {
  const held = new Map<string, Held>()
  const troubles: unknown[] = []
  const embedded = await embedWith(
    { store: await openMemory(), onTrouble: (error) => troubles.push(error), ...TEST_PRESET },
    { agentDriver: () => new HeldAgents(held) },
  )
  const tokens = new TestTokens()
  const server = await serve({
    reeve: embedded,
    listen: { host: '127.0.0.1', port: 0 },
    tokens,
    version: '0',
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const url = server.url ?? ''
  const reeve = await connect({ url, token: tokens.create({ role: 'admin' }) })
  onTestFinished(async () => {
    await reeve.close()
    await server.close()
    await embedded.close()
    expect(troubles).toEqual([])
  })
  return new ServedAgents({ embedded, reeve, url, tokens }, held)
}

/** The tokens of one server. */
class TestTokens {
  readonly #kept: StoredToken[] = []

  all(): readonly StoredToken[] {
    return this.#kept
  }

  create(of: Pick<StoredToken, 'role'> & Partial<StoredToken>): string {
    const text = newTokenText()
    this.#kept.push({ id: `t_${this.#kept.length}`, hash: tokenHash(text), createdAt: 0, ...of })
    return text
  }
}

const CALL = { type: 'tool_call', callId: 'c1', tool: 'bash', parts: [{ type: 'text', text: '{}' }] } as const

export function text(words: string) {
  return [{ type: 'text' as const, text: words }]
}

/** The answer, or the code of the refusal. */
export async function answerOrCode(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: unknown) => String(Object(error).code))
}
