import assert from 'node:assert/strict'
import type { AgentAct } from '../../core/agent/act.ts'
import { type JsonObject, objectOf } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { type Behaves, type Bench, pidOf, times } from './bench.ts'

const AGENT: RegistrationRequest = { kind: 'agent', spec: { agent: 'coder', model: 'scripted/demo' } }
const MODEL = 'scripted/demo'
const PARENT = pidOf('a')
const CHILD = pidOf('b')
const BY_PARENT = `process:${PARENT}` as const

/** Turns that the executor of the child ends. */
const ENDED: readonly Extract<AgentAct, { type: 'end_turn' }>['reason'][] = [
  'finished',
  'refused',
  'provider_error',
  'invalid_tool_calls',
  'invalid_output',
  'tool_unavailable',
  'setup_failed',
  'limit:context',
]

/** Turns that end by a request, a charge or a lost holder. */
const OTHERS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  rolled_back: async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await kernel.agents.request(CHILD, BY_PARENT, { type: 'cancel_turn', id: 'c' })
  },
  cancelled: async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await withOutput(bench)
    await kernel.agents.request(CHILD, BY_PARENT, { type: 'cancel_turn', id: 'c' })
  },
  paused: async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await withOutput(bench)
    await kernel.agents.request(CHILD, BY_PARENT, { type: 'pause', id: 'p' })
    const parts = [{ type: 'text', text: 'else' }]
    await kernel.agents.request(CHILD, 'host', { type: 'run', id: 'r', mode: 'run', parts })
  },
  'limit:tokensOut': async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await kernel.charge({ pid: CHILD, actor: 'host', amounts: { tokensOut: 101 }, done: true })
  },
  crashed: async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    for (const round of times(5)) {
      await bench.announce(`h${round}`, 60_000)
      await claimAndStart(bench.edges, [CHILD], `h${round}`)
      bench.proof(`h${round}`, 'dead')
      await kernel.sweep()
      await bench.clock.advance(60_000)
    }
  },
}

export function reports(behaves: Behaves): void {
  behaves('a turn that its parent asked for is reported once, for every reason of its end', async (bench) => {
    await bench.register(AGENT, { pid: PARENT })
    for (const [index, reason] of ENDED.entries()) {
      const { request, ...given } = child(pidOf(`e${index}`))
      await bench.register(request, given)
      const act = await answered(bench, given.pid)
      const end = { type: 'end_turn', turn: 1, reason } as const
      await act(end)
      // Repeated, as by a holder that got no answer.
      await bench.perform({ ...(await actOf(bench, given.pid)), act: end })
    }
    const expected = ENDED.map((reason, index) => [pidOf(`e${index}`), 1, reason, false])
    assert.deepEqual(await reported(bench), expected)
  })

  for (const [reason, end] of Object.entries(OTHERS))
    behaves(
      `a turn that its parent asked for and that ends with ${reason} is reported once`,
      async (bench) => {
        await family(bench)
        await end(bench)
        assert.deepEqual(await reported(bench), [[CHILD, 1, reason, false]])
      },
    )

  behaves(
    'members of a group that end at once give one report, in the order of their seats',
    async (bench) => {
      await bench.register(AGENT, { pid: PARENT })
      const members = times(6).map((index) => pidOf(`m${index}`))
      await bench.tryRegister(
        members.map((pid, index) => ({
          ...child(pid),
          reportSeat: { group: members[0] ?? '', size: members.length, index },
        })),
      )
      for (const pid of members.slice(1)) await claimAndStart(bench.edges, [pid], 'h1')
      // One of them is stopped before it begins.
      const why = { how: 'kill', reason: 'not needed', cause: null, replayKey: 'k' } as const
      const stopped = bench.perform({ type: 'stop', pid: members[0] ?? '', ...why })
      const finished = members.slice(1).map(async (pid) => {
        const act = await answered(bench, pid)
        await act({ type: 'end_turn', turn: 1, reason: 'finished', result: pid })
      })
      await Promise.all([stopped, ...finished])
      const promoted = (await bench.events(PARENT)).filter(({ type }) => type === 'notices_promoted')
      assert.equal(promoted.length, 1)
      const { seqs } = objectOf(promoted[0]?.payload ?? null)
      const told = await Promise.all(
        (seqs as readonly number[]).map((seq) => bench.store.ask({ ask: 'eventAt', pid: PARENT, seq })),
      )
      const [head, ...seats] = told.map((event) => partOf(event?.payload ?? null))
      assert.deepEqual(head?.['pids'], members)
      assert.deepEqual(
        seats.map((part) => objectOf(part['report'] ?? null)['pid']),
        members,
      )
      const { agent } = (await bench.row(PARENT)).record
      assert.deepEqual([agent?.groups, agent?.turns], [undefined, 1])
    },
  )
}

function child(pid: Pid) {
  const spec = { ...AGENT.spec, goal: 'build' }
  return { actor: BY_PARENT, pid, request: { ...AGENT, spec, parent: PARENT } }
}

async function family(bench: Bench): Promise<void> {
  // A kernel recovers the processes of a holder without a row.
  await bench.announce('h1', 3_600_000)
  await bench.register(AGENT, { pid: PARENT })
  const { request, ...given } = child(CHILD)
  await bench.register({ ...request, allowance: { tokensOut: 100 } }, given)
}

async function withOutput(bench: Bench): Promise<void> {
  const act = await executor(bench, CHILD)
  await act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })
  await act({ type: 'begin_output', turn: 1, call: 1 })
}

async function executor(bench: Bench, pid: Pid) {
  await claimAndStart(bench.edges, [pid], 'h1')
  return async (act: AgentAct) => bench.performed('appended', { ...(await actOf(bench, pid)), act })
}

/** The model of this agent has answered. */
async function answered(bench: Bench, pid: Pid) {
  const act = await executor(bench, pid)
  await act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })
  const parts = [{ type: 'text', text: 'done' }]
  await act({ type: 'record_answer', turn: 1, call: 1, model: MODEL, items: [{ type: 'item', parts }] })
  return act
}

async function actOf(bench: Bench, pid: Pid) {
  const { holder, fence } = await bench.row(pid)
  return { type: 'agent_act', pid, fence: { holder: holder ?? '', fence } } as const
}

/** What the parent was told: the agent, its turn, how that went, and whether the agent has ended. */
async function reported(bench: Bench) {
  const told = (await bench.events(PARENT)).filter(({ type }) => type === 'notice_buffered')
  const found = told.map(({ payload }) => objectOf(partOf(payload)['report'] ?? null))
  return found.map((report) => [report['pid'], report['turn'], report['reason'], report['isEnd']])
}

function partOf(payload: unknown): JsonObject {
  const { parts } = objectOf(payload as JsonObject)
  return objectOf((Array.isArray(parts) ? parts[0] : null) ?? null)
}
