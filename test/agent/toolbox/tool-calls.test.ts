import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { AgentBench, answers, ended } from './agent-bench.ts'

test('a file is read and edited by calls that are processes below the agent', async () => {
  const bench = new AgentBench()
  writeFileSync(join(bench.workspace, 'a.txt'), 'one\ntwo\n')
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [
    [{ tool: 'read_file', input: { path: 'a.txt' } }],
    [{ tool: 'edit_file', input: { path: 'a.txt', edits: [{ oldText: 'two', newText: 'three' }] } }],
  ])
  await ended(reeve, pid)
  const [read, edit] = await answers(reeve, pid)
  expect(read).toMatchObject({ isError: false, text: expect.stringContaining('one') })
  expect(edit).toMatchObject({ isError: false })
  expect(readFileSync(join(bench.workspace, 'a.txt'), 'utf8')).toBe('one\nthree\n')
  const { processes } = await reeve.list({ filter: { parent: [pid], status: 'any' } })
  expect(processes.map(({ record }) => [record.identity.label, record.status, record.owner])).toEqual([
    ['read_file', 'completed', { session: `agent:${pid}`, toolCall: `${pid}.1.1.0` }],
    ['edit_file', 'completed', { session: `agent:${pid}`, toolCall: `${pid}.1.2.0` }],
  ])
})

test('an unknown tool, a malformed call and a wrong input are errors without a process', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [
    [
      { tool: 'read_fil' },
      {
        tool: 'read_file',
        problem: { type: 'malformed', message: 'The arguments are no JSON object.', text: '{' },
      },
      { tool: 'read_file', input: { file: 'a' } },
    ],
  ])
  await ended(reeve, pid)
  const results = await answers(reeve, pid)
  expect(results.map(({ isError }) => isError)).toEqual([true, true, true])
  expect(results[0]?.text).toContain('Did you mean read_file?')
  expect(results[1]?.text).toBe('The arguments are no JSON object.')
  expect(results[2]?.text).toContain('The input of read_file is wrong: path')
  expect((await reeve.list({ filter: { parent: [pid], status: 'any' } })).processes).toEqual([])
})

test('calls run in parallel, also with one slot, and a tool of this program may call another', async () => {
  for (const concurrency of [1, 2]) {
    const bench = new AgentBench()
    const inner = defineTool({
      name: 'inner',
      description: 'x',
      input: z.object({}),
      run: () => 'inner result',
    })
    const waits = defineTool({
      name: 'waits',
      description: 'waits for the other',
      input: z.object({}),
      run: async (_, { spawn, wait }) => {
        const { pid } = await spawn({ kind: 'tool', spec: { tool: 'inner', input: {} } })
        const { outcome } = await wait(pid)
        return `outer got ${String(outcome?.result)}`
      },
    })
    const reeve = await bench.open({ concurrency, tools: [inner, waits] })
    const results = await bench.results(reeve, [[{ tool: 'waits' }, { tool: 'waits' }, { tool: 'inner' }]])
    expect(results.map(({ text }) => text)).toEqual([
      'outer got inner result',
      'outer got inner result',
      'inner result',
    ])
  }
})

test('a tool that throws is an error result, and the agent goes on', async () => {
  const bench = new AgentBench()
  const broken = defineTool({
    name: 'broken',
    description: 'x',
    input: z.object({}),
    run: () => {
      throw new Error('the disk is on fire')
    },
  })
  const reeve = await bench.open({ tools: [broken] })
  const [result] = await bench.results(reeve, [[{ tool: 'broken' }]])
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('the disk is on fire') })
})

test('as many built-in tools are declared as fit, the rest is found by search, and a spec may name some of them', async () => {
  const bench = new AgentBench()
  const tools: string[][] = []
  const reeve = await bench.open({}, (toolbox) => ({
    serves: [{ kind: 'agent', targets: null }],
    async run({ record }) {
      tools.push((await toolbox.declarations(record)).map(({ name }) => name))
      return { status: 'completed' }
    },
  }))
  await ended(reeve, await bench.start(reeve, []))
  await ended(reeve, await bench.start(reeve, [], { tools: ['read_file', 'no_such_tool'] }))
  await ended(reeve, await bench.start(reeve, [], { tools: [] }))
  expect(tools[0]).toEqual([
    ...['read_file', 'list_files', 'search_files', 'edit_file', 'write_file', 'read_result'],
    ...['ask_human', 'tell_human', 'agent_spawn', 'agent_send', 'agent_wait', 'agent_stop'],
    ...[
      'agent_read',
      'agent_list',
      'agent_restore',
      'agent_fork',
      'tool_search',
      'web_fetch',
      'script',
      'plan',
    ],
  ])
  expect(tools.slice(1)).toEqual([['read_file', 'read_result'], []])
})
