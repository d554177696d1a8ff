import assert from 'node:assert/strict'
import type { AgentAct } from '../../core/agent/act.ts'
import { entriesInView } from '../../core/agent/history.ts'
import { toolCallName } from '../../core/agent/state.ts'
import { accountOf } from '../../core/allowance/account.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { type Behaves, type Bench, codeOf, pidOf, TOOL, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

const AGENT: RegistrationRequest = { kind: 'agent', spec: { agent: 'coder', model: 'scripted/demo' } }
const SERVES = [{ kind: 'agent', targets: null }] as const
const MODEL = 'scripted/demo'

export function agents(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves(
    'an agent without a goal is idle: it waits for input, and no holder can claim it',
    async (bench) => {
      const row = await bench.register(AGENT, { pid, startBy: 'h1' })
      assert.deepEqual(
        [row.holder, row.record.status, row.record.wait?.on, row.record.parked],
        [null, 'waiting', 'input', true],
      )
      assert.deepEqual(await claimable(bench), [])
      assert.deepEqual((await bench.row(pid)).record.agent, row.record.agent)
    },
  )

  behaves('an agent with a goal begins its first turn with it', async (bench) => {
    const goal = { ...AGENT, spec: { ...AGENT.spec, goal: 'build' } }
    const { record } = await bench.register(goal, { pid, startBy: 'h1' })
    assert.deepEqual([record.status, record.agent?.turn?.input], ['running', 'goal'])
    assert.deepEqual(await bench.eventTypes(pid), [
      'registered',
      'input_admitted',
      'turn_begun',
      'input_promoted',
      'started',
    ])
  })

  behaves('the record of an agent reads back as it was written, in the middle of a turn', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    await kernel.agents.request(pid, 'host', run('one'))
    const act = await executor(bench)
    await act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })
    await kernel.agents.request(pid, 'host', run('two', 'queue'))
    await kernel.agents.request(pid, 'host', run('three', 'steer'))
    const notice = { type: 'notify', id: 'n', cause: 'child', parts: text('x') } as const
    await kernel.agents.request(pid, 'host', notice)
    await act(answer(1, 1, ['a', 'b']))
    const { row } = await act(result(1, 1, 1))
    assert.deepEqual((await bench.row(pid)).record, row.record)
    assert.deepEqual(row.record.agent?.turn?.tools, [{ call: 1, index: 0, callId: '1.1.0', tool: 'a' }])
  })

  behaves(
    'a request that is sent ten times at once is decided once, and all get its answer',
    async (bench) => {
      await bench.register(AGENT, { pid })
      const kernels = await Promise.all(times(3).map((n) => bench.kernel({ id: `k${n}`, serves: [] })))
      const answers = await Promise.all(
        times(10).map((n) => kernels[n % 3]?.kernel.agents.request(pid, 'host', run('one'))),
      )
      for (const one of answers)
        assert.deepEqual(one, { type: 'started', input: 'one', turn: 1, interrupts: [] })
      const types = await bench.eventTypes(pid)
      assert.equal(types.filter((type) => type === 'input_admitted').length, 1)
      assert.equal(types.filter((type) => type === 'turn_begun').length, 1)
    },
  )

  behaves('inputs that arrive at once each get a place, and start one turn', async (bench) => {
    await bench.register(AGENT, { pid })
    const kernels = await Promise.all(times(2).map((n) => bench.kernel({ id: `k${n}`, serves: [] })))
    const answers = await Promise.all(
      times(8).map((n) => kernels[n % 2]?.kernel.agents.request(pid, 'host', run(`i${n}`, 'queue'))),
    )
    assert.equal(answers.filter((one) => one?.type === 'started').length, 1)
    const { agent } = (await bench.row(pid)).record
    assert.deepEqual([agent?.turns, agent?.inputs.length], [1, 7])
  })

  behaves('refused requests change nothing', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    await bench.register(TOOL, { pid: pidOf('t') })
    const before = await snapshotOf(bench.store)
    const ask = (request: Parameters<typeof kernel.agents.request>[2], of = pid) =>
      codeOf(kernel.agents.request(of, 'host', request))
    assert.equal(await ask({ type: 'cancel_turn', id: '1' }), 'not_running')
    assert.equal(await ask({ type: 'pause', id: '2' }), 'not_running')
    assert.equal(await ask({ type: 'resume', id: '3' }), 'not_paused')
    assert.equal(await ask({ type: 'run', id: '4', mode: 'run', parts: [] }), 'invalid_request')
    assert.equal(await ask(run('5'), pidOf('t')), 'invalid_request')
    await bench.refused('not_running', { type: 'pause', pid })
    await bench.refused('not_paused', { type: 'resume', pid })
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('a session cannot forge an entry of its idle agent, nor act for its executor', async (bench) => {
    await bench.kernel({ id: 'k1', serves: [] })
    await bench.register({ ...AGENT, owner: {} }, { pid })
    const before = await snapshotOf(bench.store)
    const forged = { type: 'append', pid, payload: {}, replayKey: null, fence: null } as const
    await bench.refused('not_holding', { ...forged, event: 'turn_ended' })
    const act = { type: 'end_turn', turn: 1, reason: 'finished' } as const
    await bench.refused('stale_fence', { type: 'agent_act', pid, act, fence: { holder: 'h1', fence: 0 } })
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves(
    'a cancel that is committed ends the turn: its executor writes nothing into it any more',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
      await bench.register(AGENT, { pid })
      await kernel.agents.request(pid, 'host', run('one'))
      const act = await executor(bench)
      await act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })
      await kernel.agents.request(pid, 'host', { type: 'cancel_turn', id: 'c' })
      const fence = await fenceOf(bench)
      const late = { type: 'begin_output', turn: 1, call: 1 } as const
      await bench.refused('turn_ended', { type: 'agent_act', pid, act: late, fence })
      await act({ type: 'go_idle' })
      assert.deepEqual(await claimable(bench), [])
      assert.deepEqual(entriesInView(await bench.events(pid)), [])
    },
  )

  behaves('an input to a paused agent interrupts the processes of its open tool calls', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    await kernel.agents.request(pid, 'host', run('one'))
    const act = await executor(bench)
    await act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })
    await act(answer(1, 1, ['a']))
    const ref = { turn: 1, call: 1, index: 0 }
    const owner = { toolCall: toolCallName(pid, ref) }
    const tool = await bench.register({ ...TOOL, parent: pid, owner }, { pid: pidOf('t') })
    await kernel.agents.request(pid, 'host', { type: 'pause', id: 'p' })
    assert.deepEqual(await kernel.agents.request(pid, 'host', run('two')), {
      type: 'started',
      input: 'two',
      turn: 2,
      interrupts: [ref],
    })
    assert.equal((await bench.row(tool.record.pid)).record.status, 'cancelled')
  })

  behaves(
    'a kernel that dies after a cancel leaves no tool call running: the next sweep interrupts it',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
      await bench.register(AGENT, { pid })
      await kernel.agents.request(pid, 'host', run('one'))
      const act = await executor(bench)
      await act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })
      await act(answer(1, 1, ['a', 'b']))
      const toolOf = (turn: number, index: number) => {
        const owner = { toolCall: toolCallName(pid, { turn, call: 1, index }) }
        return bench.register({ ...TOOL, parent: pid, owner }, { pid: pidOf(`t${turn}${index}`) })
      }
      const closed = [await toolOf(1, 0), await toolOf(1, 1)]
      const input = { type: 'agent_request', pid, request: run('two', 'queue') } as const
      await bench.performed('appended', input)
      // As by a kernel that dies with the commit.
      const cancel = { type: 'cancel_turn', id: 'c' } as const
      await bench.performed('appended', { type: 'agent_request', pid, request: cancel })
      await act({ type: 'begin_call', turn: 2, call: 1, model: MODEL })
      await act(answer(2, 1, ['a']))
      const open = await toolOf(2, 0)
      await kernel.sweep()
      // It waits until everything is carried.
      await kernel.close()
      for (const { record } of closed)
        assert.equal((await bench.row(record.pid)).record.outcome?.reason, `tool call of ${pid} closed`)
      assert.equal((await bench.row(open.record.pid)).record.status, 'queued')
      assert.equal((await bench.row(pid)).carry, null)
    },
  )

  behaves('crashes end the turn and never the agent', async (bench) => {
    await bench.register({ ...AGENT, limits: { attempts: 1 } }, { pid })
    const { kernel } = await bench.kernel({ id: 'k0', serves: [] })
    await kernel.agents.request(pid, 'host', run('one'))
    for (const round of times(5)) {
      const holder = `h${round}`
      await bench.announce(holder, 60_000)
      const [row] = await claimAndStart(bench.edges, [pid], holder)
      assert.equal(row?.record.agent?.turn?.crashes, round)
      bench.proof(holder, 'dead')
      await kernel.sweep()
      await bench.clock.advance(60_000)
    }
    const { record, holder } = await bench.row(pid)
    assert.deepEqual([record.outcome, record.wait?.on, holder], [null, 'input', null])
    const ended = (await bench.events(pid)).findLast(({ type }) => type === 'turn_ended')
    assert.equal(Object(ended?.payload).reason, 'crashed')
  })

  behaves('an exceeded allowance ends the turn, and a raised one lets the queue go on', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register({ ...AGENT, allowance: { tokensOut: 100 } }, { pid })
    await kernel.agents.request(pid, 'host', run('one'))
    await kernel.agents.request(pid, 'host', run('two', 'queue'))
    await executor(bench)
    const charged = await kernel.charge({ pid, actor: 'host', amounts: { tokensOut: 101 }, done: true })
    assert.equal(charged.row.record.agent?.turn, null)
    assert.equal(charged.row.record.outcome, null)
    const more = { id: 'more', amounts: { tokensOut: 50 } }
    assert.equal(await codeOf(kernel.agents.allow(pid, `process:${pid}`, more)), 'denied')
    assert.deepEqual(await kernel.agents.allow(pid, 'host', more), { type: 'allowed', turn: 2 })
    assert.deepEqual(await kernel.agents.allow(pid, 'host', more), { type: 'allowed', turn: 2 })
    const account = await bench.store.ask({ ask: 'account', id: accountOf(pid) })
    assert.deepEqual([account?.given.tokensOut, account?.used.tokensOut], [150, 101])
    const before = await snapshotOf(bench.store)
    const unlimited = { id: 'cost', amounts: { cost: 1 } }
    assert.equal(await codeOf(kernel.agents.allow(pid, 'host', unlimited)), 'invalid_input')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('a raised allowance is taken from the account above', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    const above = pidOf('above')
    await bench.register({ ...TOOL, allowance: { tokensOut: 100 } }, { pid: above })
    await bench.register({ ...AGENT, parent: above, allowance: { tokensOut: 40 } }, { pid })
    const allow = (id: string, tokensOut: number) =>
      kernel.agents.allow(pid, `process:${above}`, { id, amounts: { tokensOut } })
    assert.equal(await codeOf(allow('1', 61)), 'limit_exceeded')
    await allow('2', 60)
    const account = await bench.store.ask({ ask: 'account', id: accountOf(above) })
    assert.equal(account?.carved.tokensOut, 100)
  })

  behaves('a message, and the end of an awaited child, begin a turn of an idle agent', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    const child = pidOf('c')
    await bench.register({ ...TOOL, parent: pid }, { pid: child })
    await bench.performed('appended', { type: 'await_end', pid: child, by: pid })
    const stop = { how: 'kill', reason: 'enough', cause: null, replayKey: 'stop' } as const
    await bench.performed('appended', { type: 'stop', pid: child, ...stop })
    assert.equal((await bench.row(pid)).record.agent?.turn?.cause, 'child')
    await kernel.agents.request(pid, 'host', { type: 'cancel_turn', id: 'c' })
    await bench.performed('appended', {
      type: 'message',
      pid,
      to: `process:${pid}`,
      message: {
        from: 'host',
        channel: null,
        correlationId: null,
        replyTo: null,
        priority: 'normal',
        value: 'hello',
      },
      key: 'm',
    })
    const { agent } = (await bench.row(pid)).record
    assert.deepEqual([agent?.turns, agent?.notices.kept.length], [2, 0])
  })

  behaves('a kernel executes an agent turn after turn, and parks it between them', async (bench) => {
    const turns: number[] = []
    const ended = new Map([1, 2, 3].map((turn) => [turn, Promise.withResolvers<void>()]))
    const { kernel } = await bench.kernel({
      id: 'k1',
      serves: SERVES,
      script: async (work, running) => {
        const turn = work.record.agent?.turns ?? 0
        const act = (one: AgentAct) => running.agents.act(work, one)
        await act({ type: 'begin_call', turn, call: 1, model: MODEL })
        await act(answer(turn, 1, []))
        const usage = { turn, call: 1, model: MODEL, inputTokens: 5, cachedInputTokens: 0, outputTokens: 2 }
        const used = { type: 'record_usage', ...usage, cost: 0.5, isEstimate: false } as const
        await running.agents.recordUsage(work, used, { tokensIn: 5, tokensOut: 2, cost: 0.5 })
        await act({ type: 'end_turn', turn, reason: 'finished' })
        await act({ type: 'go_idle' })
        turns.push(turn)
        ended.get(turn)?.resolve()
        return { status: 'parked' }
      },
    })
    await kernel.register([{ request: AGENT, actor: 'host', pid }])
    for (const turn of [1, 2, 3]) {
      await kernel.agents.request(pid, 'host', run(`i${turn}`))
      await ended.get(turn)?.promise
    }
    assert.deepEqual(turns, [1, 2, 3])
    const { record } = await bench.row(pid)
    assert.deepEqual(record.agent?.totals, { inputTokens: 15, outputTokens: 6, cost: 1.5, unpriced: 0 })
    assert.equal(record.attempts, 0)
    const account = await bench.store.ask({ ask: 'account', id: accountOf(pid) })
    assert.deepEqual(account?.used, { tokensIn: 15, tokensOut: 6, cost: 1.5 })
  })

  async function fenceOf(bench: Bench) {
    const row = await bench.row(pid)
    return { holder: row.holder ?? '', fence: row.fence }
  }

  /** Claims the agent, and acts as its executor. */
  async function executor(bench: Bench) {
    await claimAndStart(bench.edges, [pid], 'h1')
    return async (act: AgentAct) =>
      bench.performed('appended', { type: 'agent_act', pid, act, fence: await fenceOf(bench) })
  }
}

function run(id: string, mode: 'run' | 'queue' | 'steer' = 'run') {
  return { type: 'run', id, mode, parts: text(id) } as const
}

function text(words: string) {
  return [{ type: 'text', text: words }]
}

function answer(turn: number, call: number, tools: readonly string[]): AgentAct {
  const calls = tools.map(
    (tool, index) =>
      ({ type: 'tool_call', callId: `${turn}.${call}.${index}`, tool, parts: text('{}') }) as const,
  )
  return {
    type: 'record_answer',
    turn,
    call,
    model: MODEL,
    items: [{ type: 'item', parts: text('ok') }, ...calls],
  }
}

function result(turn: number, call: number, index: number): AgentAct {
  return { type: 'record_result', turn, call, index, parts: text('ok'), isError: false }
}

function claimable(bench: Bench) {
  const asked = { serves: SERVES, here: [], at: bench.clock.now() }
  return bench.store.ask({ ask: 'claimable', ...asked, limit: 10 })
}
