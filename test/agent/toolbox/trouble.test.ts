import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Toolbox } from '../../../src/agent/toolbox/toolbox.ts'
import { agentTool } from '../../../src/agent/tools/agent-tool.ts'
import type { Embedded } from '../../../src/embed/embed.ts'
import type { Work } from '../../../src/kernel/executor.ts'
import { AgentBench, answers, ended } from './agent-bench.ts'
import { FakeAgents } from './fake-agent.ts'

/** Resolves when a process of this tool runs; returns its pid. */
async function running(reeve: Embedded, tool: string): Promise<string> {
  for await (const { type } of reeve.follow({ after: 0 })) {
    if (type !== 'started') continue
    const { processes } = await reeve.list({ filter: { label: [tool], status: ['running'] } })
    const [first] = processes
    if (first !== undefined) return first.record.pid
  }
  throw new Error('The feed has ended')
}

const hangs = (name: string, ignores: boolean) =>
  defineTool({
    name,
    description: 'Never returns.',
    input: z.object({}),
    run: (_, { abortSignal }) =>
      new Promise<string>((_resolve, reject) => {
        if (!ignores) abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
      }),
  })

test('a call that hangs ends with an interrupt of its tool call, and the agent goes on', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open({ tools: [hangs('hangs', false)] })
  const pid = await bench.start(reeve, [[{ tool: 'hangs' }, { tool: 'list_files' }]])
  const call = await running(reeve, 'hangs')
  await reeve.interrupt({ scope: { toolCall: `${pid}.1.1.0` }, reason: 'it hangs' })
  await ended(reeve, pid)
  expect(await reeve.show({ pid: call })).toMatchObject({ status: 'cancelled' })
  const results = await answers(reeve, pid)
  expect(results.map(({ isError }) => isError)).toEqual([true, false])
  expect(results[0]?.text).toBe('Interrupted; its effect is unverified, check before repeating.')
})

test('long results are spilled and masked, and another agent cannot read them', async () => {
  const bench = new AgentBench()
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`).join('\n')
  const long = defineTool({ name: 'long', description: 'x', input: z.object({}), run: () => lines })
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  const leaks = defineTool({
    name: 'leaks',
    description: 'x',
    input: z.object({}),
    run: () => `token ${token}`,
  })
  const reeve = await bench.open({ tools: [long, leaks] })
  const pid = await bench.start(reeve, [[{ tool: 'long' }, { tool: 'leaks' }]])
  await ended(reeve, pid)
  const [shown, leaked] = await answers(reeve, pid)
  expect(leaked?.text).not.toContain(token)
  expect(shown?.text).toContain('line 1999')
  expect(shown?.text).not.toContain('line 1000\n')
  const call = callIn(shown?.text ?? '')
  expect(call).not.toBe('')
  // Another agent has no such call.
  const [other] = await bench.results(reeve, [[{ tool: 'read_result', input: { call } }]])
  expect(other).toMatchObject({ isError: true })
})

test('an agent pages through its own long results, of connected and of built-in tools', async () => {
  const bench = new AgentBench()
  const lines = Array.from({ length: 2_000 }, (_, index) => `line ${index}`).join('\n')
  const long = defineTool({ name: 'long', description: 'x', input: z.object({}), run: () => lines })
  const reeve = await bench.open({ tools: [long] })
  const results = await bench.results(reeve, [
    [{ tool: 'long' }],
    ([text = '']) => [{ tool: 'read_result', input: { call: callIn(text) } }],
    ([text = '']) => [{ tool: 'read_result', input: { call: callIn(text), offset: 12_000 } }],
  ])
  expect(results.map(({ isError }) => isError)).toEqual([false, false, false])
  expect(results[1]?.text).toMatch(/^line 0\nline 1\n/)
  expect(results[1]?.text).toContain('go on with offset 12000')
  expect(`${results[1]?.text.slice(0, 12_000)}${results[2]?.text}`).toContain(lines.slice(11_990, 12_010))
})

function callIn(text: string): string {
  return /read_result \{"call":"(p_[0-9a-z]+)"\}/.exec(text)?.[1] ?? ''
}

test('the plan and found tools are derived from earlier calls', async () => {
  const bench = new AgentBench()
  const many = Array.from({ length: 60 }, (_, index) =>
    defineTool({
      name: `tool_${index}`,
      description: `The tool number ${index}. ${'It does many things. '.repeat(20)}`,
      input: z.object({ a: z.string() }),
      run: () => 'x',
    }),
  )
  const special = defineTool({
    name: 'zebra_counter',
    description: `Counts zebras. ${'It is thorough. '.repeat(60)}`,
    input: z.object({}),
    run: () => 'three',
  })
  const reeve = await bench.open({ tools: [...many, special] })
  const items = [{ text: 'first', status: 'pending' }]
  const results = await bench.results(reeve, [
    [{ tool: 'tool_search', input: { query: 'zebra' } }],
    [{ tool: 'plan', input: { changes: [{ type: 'replace', items }] } }],
    [{ tool: 'plan', input: { changes: [{ type: 'set', item: 1, status: 'done' }] } }],
    [{ tool: 'zebra_counter' }],
  ])
  expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false])
  expect(results[0]?.text).toContain('zebra_counter')
  expect(results[2]?.text).toContain('[x] first')
  expect(results[3]?.text).toBe('three')
})

test('a cancelled turn closes its calls and interrupts their processes; nothing is registered for it later', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open({ tools: [hangs('hangs', false)] })
  const pid = await bench.start(reeve, [[{ tool: 'hangs' }, { tool: 'hangs' }]], { once: false })
  const call = await running(reeve, 'hangs')
  const answer = await reeve.cancelTurn({ pid, id: 'c1' })
  expect(answer).toMatchObject({ type: 'cancelled' })
  expect((await reeve.wait({ pid: call })).type).toBe('ended')
  for await (const { type } of reeve.follow({ after: 0, filter: { pid: [pid] } }))
    if (type === 'agent_idled') break
  await expect.poll(async () => (await reeve.list({ filter: { parent: [pid] } })).processes).toEqual([])
  expect((await answers(reeve, pid)).map(({ isError }) => isError)).toEqual([true, true])
})

test('a built-in tool that ignores its signal is stopped after its time', async () => {
  const bench = new AgentBench()
  bench.toolTimes = { maxRunMs: 50 }
  const reeve = await bench.open()
  const stuck = agentTool({
    name: 'stuck',
    description: 'x',
    input: z.object({}),
    recovery: 'bound',
    run: () => new Promise(() => undefined),
  })
  bench.moreTools = [stuck]
  const [result] = await bench.results(reeve, [[{ tool: 'stuck' }]])
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('was stopped after 0.05 s') })
})

const WORKER = `w_${'0'.repeat(24)}`
const DELIVER = {
  name: 'deliver',
  description: 'Delivers a parcel.',
  inputSchema: { type: 'object' },
  recovery: 'bound',
} as const

test('a tool whose program is gone before it began is unavailable', async () => {
  const bench = new AgentBench()
  bench.toolTimes = { lookMs: 20, unservedMs: 60 }
  const reeve = await bench.open()
  await reeve.announceWorker({ worker: WORKER, workflows: [], tools: [DELIVER] })
  const pid = await bench.start(reeve, [[{ tool: 'deliver' }], [{ tool: 'deliver' }]])
  for await (const { type } of reeve.follow({ after: 0, filter: { pid: [pid] } }))
    if (type === 'child_registered') break
  await reeve.retireWorker({ worker: WORKER })
  await ended(reeve, pid)
  const [gone, unknown] = await answers(reeve, pid)
  expect(gone).toMatchObject({ isError: true, text: expect.stringContaining('tool_unavailable') })
  expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining('no connected program') })
})

test('a call that ended before its result was recorded never runs again', async () => {
  const bench = new AgentBench()
  let effects = 0
  const counts = defineTool({
    name: 'counts',
    description: 'x',
    input: z.object({}),
    run: () => {
      effects += 1
      return `effect ${effects}`
    },
  })
  let losses = 0
  const reeve = await bench.open({ tools: [counts] }, (toolbox) => {
    const lossy: Toolbox = {
      declarations: (agent) => toolbox.declarations(agent),
      seen: (agent, files) => toolbox.seen(agent, files),
      skills: (agent) => toolbox.skills(agent),
      skillTexts: (agent, names) => toolbox.skillTexts(agent, names),
      run: async (work, turn, calls, signal) => {
        if (losses > 0) return toolbox.run(work, turn, calls, signal)
        await expect(toolbox.run(losingItsLease(work), turn, calls, signal)).rejects.toMatchObject({
          code: 'stale_fence',
        })
        losses += 1
      },
    }
    return new FakeAgents(lossy, bench.scripts)
  })
  const [result] = await bench.results(reeve, [[{ tool: 'counts' }]])
  expect(result).toMatchObject({ isError: false, text: 'effect 1' })
  expect({ effects, losses }).toEqual({ effects: 1, losses: 1 })
})

/** The registration of the call is the last write that carries the lease. */
function losingItsLease(work: Work): Work {
  let writes = 0
  return {
    record: work.record,
    signal: work.signal,
    onRequest: (listener) => work.onRequest(listener),
    lendSlot: () => work.lendSlot(),
    fence: () => {
      writes += 1
      const { holder, fence } = work.fence()
      return writes === 1 ? { holder, fence } : { holder, fence: fence - 1 }
    },
  }
}
