import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'
import { McpHarness, type Server, textOf } from './mcp-harness.ts'

const program = (name: string) => join(import.meta.dirname, 'servers', name)
const sdkServer = (...args: string[]): Server => ({
  type: 'command',
  argv: [process.execPath, program('sdk-server.ts'), ...args],
})
const roughServer = (folder: string, ...ways: string[]) => ({
  type: 'command' as const,
  argv: [process.execPath, program('rough-server.ts'), folder, ...ways],
})
const heard = (folder: string) => readFileSync(join(folder, 'heard'), 'utf8')
const calls = (folder: string) => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')

test('a kept server is a command below the agent, and its tools are tools of the agent', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ all: sdkServer() })
  const tools = await harness.tools(agent)
  expect(tools.map(({ name }) => name)).toEqual(
    ['echo', 'fail', 'picture', 'remove', 'shifting', 'sum'].map((name) => `mcp__all__${name}`),
  )
  const [echo] = tools
  expect(echo).toMatchObject({ description: 'Repeats a text', recovery: 'rerunnable' })
  expect(await echo?.needs({ text: 'x' })).toMatchObject([
    { right: 'execute', resource: { kind: 'mcp', path: 'all/echo' } },
  ])
  const { processes } = await harness.reeve.list({ filter: { parent: agent.pid, kind: 'command' } })
  expect(processes.map(({ record }) => record.identity.label)).toEqual(['mcp:all'])
  expect(textOf(await harness.call(agent, 'mcp__all__echo', { text: 'hello' }))).toBe('hello')
  expect(textOf(await harness.call(agent, 'mcp__all__sum', { a: 2, b: 3 }))).toBe('done\n{"sum":5}')
  expect(textOf(await harness.call(agent, 'mcp__all__picture'))).toBe(
    '[image/png]\n[resource file:///notes.txt]\na note\n[resource file:///other.txt: other]',
  )
  expect(textOf(await harness.call(agent, 'mcp__all__fail'))).toBe('mcp_error: the disk is full')
  expect(textOf(await harness.call(agent, 'mcp__all__sum', { a: 'two' }))).toMatch(/^mcp_error: /)
  expect(harness.alerts).toEqual([])
})

test('calls run at once', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ all: sdkServer() })
  const words = Array.from({ length: 20 }, (_, index) => `word ${index}`)
  const said = await Promise.all(words.map((text) => harness.call(agent, 'mcp__all__echo', { text })))
  expect(said.map(textOf)).toEqual(words)
})

test('a question of the server goes to a person', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ all: sdkServer(), rough: roughServer(temp.folder) })
  const answer = async (value: string, text: string) => {
    await expect
      .poll(async () => (await harness.reeve.approvals({ state: 'pending' })).approvals.length)
      .toBe(1)
    const [approval] = (await harness.reeve.approvals({ state: 'pending' })).approvals
    expect(JSON.stringify(approval)).toContain(text)
    await harness.reeve.reply({ id: approval?.id ?? '', value })
  }
  const first = await harness.begin(agent, 'mcp__all__remove', { what: 'the file' })
  await answer('yes', 'Remove the file?')
  expect(textOf(await harness.called(first.pid))).toBe('removed the file')
  const second = await harness.begin(agent, 'mcp__all__remove', { what: 'the disk' })
  await answer('decline', 'Remove the disk?')
  expect(textOf(await harness.called(second.pid))).toBe('kept the disk: decline')
  const third = await harness.begin(agent, 'mcp__rough__ask')
  await answer('blue', 'Which colour?')
  await expect.poll(async () => heard(temp.folder)).toContain('tools/call')
  await answer('7', 'count')
  expect(textOf(await harness.called(third.pid))).toBe(
    '{"action":"accept","content":{"colour":"blue","count":7}}',
  )
})

test('a tool that changed is not offered or called until a person accepts it', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const changed = join(temp.folder, 'changed')
  const agent = await harness.agent({ all: sdkServer(changed) })
  const offered = async () =>
    (await harness.tools(agent)).find(({ name }) => name === 'mcp__all__shifting')?.description
  expect(await offered()).toBe('Says one')
  const [before] = (await harness.tools(agent)).filter(({ name }) => name === 'mcp__all__shifting')
  writeFileSync(changed, '')
  await expect.poll(offered).toBeUndefined()
  expect(harness.alerts).toMatchObject([{ code: 'mcp_tool_changed', server: 'all' }])
  const context = await harness.ownCall(agent)
  await expect(before?.run({}, context)).rejects.toMatchObject({ code: 'mcp_tool_changed' })
  const { approvals } = await harness.reeve.approvals({ state: 'pending' })
  expect(approvals).toHaveLength(1)
  await harness.reeve.reply({ id: approvals[0]?.id ?? '', value: 'accept' })
  expect(await offered()).toBe('Says two')
  expect(textOf(await harness.call(agent, 'mcp__all__shifting'))).toBe('one')
})

test('what an agent has seen of a tool outlives the kernel and the server', async () => {
  await using temp = new TempReeve()
  const changed = join(temp.folder, 'changed')
  const first = await McpHarness.open(temp)
  const agent = await first.agent({ all: sdkServer(changed) })
  await first.tools(agent)
  await first.servers.close()
  const { processes } = await first.reeve.list({ filter: { parent: agent.pid, kind: 'command' } })
  await first.reeve.kill({ pid: processes[0]?.record.pid ?? '' })
  await first.reeve.close({ keep: true })
  writeFileSync(changed, '')
  const second = await McpHarness.open(temp)
  const names = async () => (await second.tools(agent)).map(({ name }) => name)
  await expect.poll(names).not.toContain('mcp__all__shifting')
  expect(await names()).toContain('mcp__all__echo')
})

test.for([['legacy'], ['silent'], ['strict'], ['garbage'], ['requests']])(
  'a server that is %s',
  async ([way = '']) => {
    await using temp = new TempReeve()
    const harness = await McpHarness.open(temp)
    const agent = await harness.agent({ rough: roughServer(temp.folder, way) })
    const names = (await harness.tools(agent)).map(({ name }) => name)
    expect(names).toContain('mcp__rough__work')
    expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect(textOf(await harness.call(agent, 'mcp__rough__work'))).toBe('worked')
    const odd = names.find((name) => name.startsWith('mcp__rough__odd')) ?? ''
    expect(textOf(await harness.call(agent, odd))).toBe('odd')
    const codes = harness.alerts.map(({ code }) => code)
    expect(codes).toContain('mcp_tools_omitted')
    expect(codes.includes('mcp_output_unusable')).toBe(way === 'garbage')
    if (way === 'requests') expect(heard(temp.folder)).toContain('-32601')
  },
)

test('trouble with a server is an error of the call, and the next call goes on', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ rough: { ...roughServer(temp.folder), timeoutMs: 3_000 } })
  const call = async (tool: string) => textOf(await harness.call(agent, `mcp__rough__${tool}`))
  expect(await call('double')).toBe('first')
  expect(await call('hang')).toMatch(/^mcp_interrupted: .* has not answered tools\/call within 3 s/)
  await expect.poll(() => heard(temp.folder)).toContain('notifications/cancelled')
  expect(await call('late')).toMatch(/^mcp_interrupted/)
  expect(await call('flood')).toBe('flooded')
  expect(await call('double')).toBe('first')
  expect(await call('die')).toMatch(/^mcp_interrupted: .*exit code 3.*out of luck/)
  expect(await call('work')).toBe('worked')
  expect(harness.alerts.map(({ code }) => code)).toContain('mcp_server_ended')
})

test('long answers are taken, and too long ones refused', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ rough: roughServer(temp.folder) })
  const tools = await harness.tools(agent)
  const run = async (name: string) => {
    const tool = tools.find((one) => one.name === `mcp__rough__${name}`)
    return tool?.run({}, await harness.ownCall(agent))
  }
  const huge = (await run('huge'))?.parts[0]
  expect(huge?.type === 'text' ? huge.text.length : null).toBe(5_000_000)
  await expect(run('enormous')).rejects.toMatchObject({ code: 'mcp_error' })
  expect(textOf(await harness.call(agent, 'mcp__rough__work'))).toBe('worked')
})

test('a call that is stopped is cancelled at the server', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ rough: roughServer(temp.folder) })
  const { pid } = await harness.begin(agent, 'mcp__rough__hang')
  await expect.poll(() => heard(temp.folder)).toContain(pid)
  await harness.reeve.signal({ pid, signal: 'cancel' })
  await expect.poll(() => heard(temp.folder)).toContain('notifications/cancelled')
})

test('a server that cannot be started gives no tools, and an alert', async () => {
  await using temp = new TempReeve()
  const harness = await McpHarness.open(temp, { startMs: 5_000 })
  const agent = await harness.agent({
    none: { type: 'command', argv: ['/no/such/program'] },
    all: sdkServer(),
  })
  expect((await harness.tools(agent)).length).toBeGreaterThan(0)
  expect(harness.alerts).toMatchObject([{ code: 'mcp_server_unavailable', server: 'none' }])
})

test('a call goes on in the next kernel, and is sent once', async () => {
  await using temp = new TempReeve()
  const file = join(temp.folder, 'go')
  const first = await McpHarness.open(temp)
  const agent = await first.agent({ rough: roughServer(temp.folder) })
  const { pid } = await first.begin(agent, 'mcp__rough__wait', { file })
  await expect.poll(() => heard(temp.folder)).toContain(pid)
  await first.servers.close()
  await first.reeve.close({ keep: true })
  const second = await McpHarness.open(temp)
  writeFileSync(file, '')
  expect(textOf(await second.called(pid))).toBe('waited')
  expect(calls(temp.folder)).toEqual(['wait'])
  expect(heard(temp.folder).match(/"initialize"/g)).toHaveLength(1)
})
