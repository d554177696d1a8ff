import assert from 'node:assert/strict'
import type { AgentAct } from '../../core/agent/act.ts'
import type { ShownOutput } from '../../core/agent/event.ts'
import { type CallPlace, toolCallName } from '../../core/agent/state.ts'
import { objectOf } from '../../core/json/json.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { carryToChildren } from '../../kernel/carry.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { type PruneOptions, prune, pruneInBatches } from '../../kernel/prune.ts'
import { pruneEarlierSegments } from '../../kernel/prune-earlier-segments.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, TOOL } from './bench.ts'

const AGENT: RegistrationRequest = { kind: 'agent', spec: { agent: 'coder', model: 'scripted/demo' } }
const MODEL = 'scripted/demo'

interface AgentAtWork {
  /** Acts as its executor. */
  act(act: AgentAct): Promise<unknown>
}

/** Tool calls of live agents: they are kept as long as the live segment of their agent has them. */
export function earlierSegments(behaves: Behaves): void {
  const pid = pidOf('agent')

  behaves(
    'a tool call of a live agent is kept, with what it started, until a compaction leaves it out',
    async (bench) => {
      const agent = await agentAtWork(bench)
      await called(bench, agent, 1, { command: 'c1' })
      await called(bench, agent, 2, { command: 'c2' })
      const all = ['t1', 'c1', 't2', 'c2'].map(pidOf)
      assert.deepEqual(await kept(bench, { pids: ['c1', 'c2'].map(pidOf) }), reasons(['c1', 'c2']))
      await compact(bench, agent, 3, { turn: 1, call: 2 })
      assert.deepEqual(await kept(bench, { pids: [pidOf('t2'), pidOf('c2')] }), [
        [pidOf('c2'), 'live_parent'],
        [pidOf('t2'), 'live_tree'],
      ])
      assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('c1')])
      assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('t1')])
      await compact(bench, agent, 4, { turn: 1, call: 4 })
      assert.deepEqual(await allPruned(bench, bench.clock.now() + 1), [pidOf('c2'), pidOf('t2')])
      for (const one of all) assert.equal(await bench.store.ask({ ask: 'process', pid: one }), null)
      const answered = (await bench.events(pid)).find(({ type }) => type === 'tool_answered')
      assert.deepEqual(objectOf(answered?.payload)['parts'], [{ type: 'text', text: 'result 1' }])
    },
  )

  behaves('calls of a closed segment that ended later than a time stay until then', async (bench) => {
    const agent = await agentAtWork(bench)
    await called(bench, agent, 1)
    bench.clock.advance(1_000)
    const between = bench.clock.now()
    await called(bench, agent, 2)
    await compact(bench, agent, 3, { turn: 1, call: 3 })
    assert.deepEqual(await allPruned(bench, between), [pidOf('t1')])
    assert.deepEqual(await allPruned(bench, between), [])
    assert.deepEqual(await allPruned(bench, bench.clock.now() + 1), [pidOf('t2')])
  })

  behaves('a call that has the memory of its agent stays while the agent lives', async (bench) => {
    const agent = await agentAtWork(bench)
    await called(bench, agent, 1, { tool: 'agent.plan' })
    await called(bench, agent, 2, { tool: 'agent.tool_search' })
    await compact(bench, agent, 3, { turn: 1, call: 3 })
    assert.deepEqual(await kept(bench, { keep: 0 }), reasons(['t1', 't2']))
  })

  behaves(
    'a command whose output a later call shows is kept until that call is left out, too',
    async (bench) => {
      const agent = await agentAtWork(bench)
      await called(bench, agent, 1, { command: 'c1' })
      await called(bench, agent, 2, { shows: { pid: pidOf('c1'), from: 0, to: 7 } })
      await compact(bench, agent, 3, { turn: 1, call: 2 })
      assert.deepEqual(await kept(bench, { pids: [pidOf('c1')] }), [[pidOf('c1'), 'referenced']])
      await compact(bench, agent, 4, { turn: 1, call: 3 })
      assert.deepEqual((await allPruned(bench, bench.clock.now() + 1)).sort(), ['c1', 't1', 't2'].map(pidOf))
    },
  )

  behaves('processes without a tool call stay while their agent lives', async (bench) => {
    const agent = await agentAtWork(bench)
    await bench.register({ ...TOOL, parent: pid, owner: { toolCall: `${pid}.1.1` } }, { pid: pidOf('x') })
    await bench.register({ ...TOOL, parent: pid }, { pid: pidOf('y') })
    for (const text of ['x', 'y']) await end(bench, text)
    await compact(bench, agent, 1, { turn: 1, call: 1 })
    assert.deepEqual(await kept(bench, { keep: 0 }), reasons(['x', 'y']))
  })

  /** In its first turn. */
  async function agentAtWork(bench: Bench): Promise<AgentAtWork> {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    const parts = [{ type: 'text', text: 'go' }]
    await kernel.agents.request(pid, 'host', { type: 'run', id: 'one', mode: 'run', parts })
    await claimAndStart(bench.edges, [pid], 'h1')
    return {
      async act(act) {
        const { holder, fence } = await bench.row(pid)
        const held = { holder: holder ?? '', fence }
        return bench.performed('appended', { type: 'agent_act', pid, act, fence: held })
      },
    }
  }

  /** The model calls a tool, whose process is `t<call>`; it ends, and its result is recorded. */
  async function called(
    bench: Bench,
    { act }: AgentAtWork,
    call: number,
    what: { readonly tool?: string; readonly command?: string; readonly shows?: ShownOutput } = {},
  ): Promise<void> {
    const { tool = 'agent.run_command', command, shows } = what
    const ref = { turn: 1, call, index: 0 }
    const item = { type: 'tool_call', callId: `${call}`, tool, parts: [] } as const
    await act({ type: 'begin_call', turn: 1, call, model: MODEL })
    await act({ type: 'record_answer', turn: 1, call, model: MODEL, items: [item] })
    const owner = { toolCall: toolCallName(pid, ref) }
    const request: RegistrationRequest = { kind: 'tool', spec: { tool }, parent: pid, owner }
    await bench.register(request, { pid: pidOf(`t${call}`) })
    if (command !== undefined) {
      await bench.register({ ...OUTSIDE, parent: pidOf(`t${call}`), owner }, { pid: pidOf(command) })
      await end(bench, command)
    }
    await end(bench, `t${call}`)
    await carryToChildren(bench.edges, 'k1', pidOf(`t${call}`))
    const parts = [{ type: 'text', text: `result ${call}` }]
    const output = shows === undefined ? {} : { output: shows }
    await act({ type: 'record_result', ...ref, parts, isError: false, ...output })
  }

  async function compact(bench: Bench, { act }: AgentAtWork, call: number, keeps: CallPlace): Promise<void> {
    await act({ type: 'begin_call', turn: 1, call, model: MODEL, purpose: 'compaction' })
    const { number = 1, from = 0 } = (await bench.row(pid)).record.agent?.segment ?? {}
    const segment = from === 0 ? 1 : number + 1
    const begun = { turn: 1, segment, why: 'compaction', keepsFrom: null, keeps, parts: [] } as const
    await act({ type: 'begin_segment', ...begun })
  }

  async function allPruned(bench: Bench, endedBefore: number): Promise<string[]> {
    const pruned: string[] = []
    for await (const batch of pruneEarlierSegments(bench.edges, pid, endedBefore))
      pruned.push(...batch.pruned)
    return pruned
  }
}

function end(bench: Bench, text: string): Promise<unknown> {
  return bench.performed('appended', { type: 'request_abandon', pid: pidOf(text), reason: 'gone' })
}

function reasons(texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text) => [pidOf(text), 'live_parent'])
}

/** Prunes, asserts that no process was removed, and returns each kept process with the reason. */
async function kept(bench: Bench, options: PruneOptions): Promise<(readonly [string, string])[]> {
  const found: (readonly [string, string])[] = []
  for await (const batch of pruneInBatches(bench.edges, options)) {
    assert.deepEqual(batch.pruned, [])
    found.push(...batch.kept.map(({ pid, reason }) => [pid, reason] as const))
  }
  return found.toSorted()
}
