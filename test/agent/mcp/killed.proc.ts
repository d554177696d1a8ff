import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { builtFixture } from '../../built-file.ts'
import { endForCertain, osProcess } from '../../command/os-processes.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { McpHarness, textOf } from './mcp-harness.ts'
import { callRequest } from './mcp-kernel.ts'

const program = (name: string) => join(import.meta.dirname, name)
const lines = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n')

/** Begins a call in an OS process of its own, and kills that with SIGKILL when the server has heard of the call. */
async function killedInCall(temp: TempReeve, tool: string, file: string) {
  const argv = [process.execPath, program('servers/rough-server.ts'), temp.folder]
  const options = { server: { type: 'command', argv }, tool: `mcp__rough__${tool}`, given: { file } }
  const args = [temp.store, temp.keeperHome.folder, JSON.stringify(options)]
  const kernel = spawn(process.execPath, [builtFixture('kernel-program'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: kernel.stdout }), 'line')
  await expect.poll(() => readable(temp.folder)).toContain('tools/call')
  await endForCertain(osProcess(kernel.pid ?? 0))
  return JSON.parse(String(line)) as { agent: string; call: string }
}

function readable(folder: string): string {
  try {
    return lines(folder, 'heard').join('\n')
  } catch {
    return ''
  }
}

test('a call survives kill -9 of its kernel: the next one gets the answer, and asks nothing again', async () => {
  await using temp = new TempReeve()
  const file = join(temp.folder, 'go')
  const { agent, call } = await killedInCall(temp, 'wait', file)
  const harness = await McpHarness.open(temp)
  writeFileSync(file, '')
  expect(textOf(await harness.called(call))).toBe('waited')
  expect(lines(temp.folder, 'calls')).toEqual(['wait'])
  expect(lines(temp.folder, 'heard').filter((line) => line.includes('"initialize"'))).toHaveLength(1)
  const { processes } = await harness.reeve.list({
    filter: { parent: agent, kind: 'command', status: 'any' },
  })
  expect(processes).toHaveLength(1)
})

test('an answer that was given while no kernel lived is found', async () => {
  await using temp = new TempReeve()
  const file = join(temp.folder, 'go')
  const { call } = await killedInCall(temp, 'wait', file)
  writeFileSync(file, '')
  await expect.poll(() => lines(temp.folder, 'heard')).toContain('answered wait')
  const harness = await McpHarness.open(temp)
  expect(textOf(await harness.called(call))).toBe('waited')
  expect(lines(temp.folder, 'calls')).toEqual(['wait'])
})

test('a call whose server died with its kernel is interrupted, and not sent again', async () => {
  await using temp = new TempReeve()
  const { agent, call } = await killedInCall(temp, 'hang', '')
  const harness = await McpHarness.open(temp)
  // A server that dies while it lists its tools has none.
  await harness.tools(await harness.reeve.show({ pid: agent }))
  const { processes } = await harness.reeve.list({ filter: { parent: agent, kind: 'command' } })
  await harness.reeve.kill({ pid: processes[0]?.record.pid ?? '' })
  expect(textOf(await harness.called(call))).toMatch(/^mcp_interrupted: .* effect is unknown/)
  expect(lines(temp.folder, 'calls')).toEqual(['hang'])
})

test('a question that was open when the kernel was killed is asked once', async () => {
  await using temp = new TempReeve()
  const { call } = await killedInCall(temp, 'ask', '')
  const harness = await McpHarness.open(temp)
  for (const value of ['red', '3']) {
    const pending = async () => (await harness.reeve.approvals({ state: 'pending' })).approvals
    await expect.poll(async () => (await pending()).length).toBe(1)
    const [approval] = await pending()
    await harness.reeve.reply({ id: approval?.id ?? '', value })
  }
  expect(textOf(await harness.called(call))).toContain('"colour":"red","count":3')
})

test('a request that was noted and not written leaves before new ones, and all are answered', async () => {
  await using temp = new TempReeve()
  const file = join(temp.folder, 'go')
  writeFileSync(file, '')
  const { agent, call } = await killedInCall(temp, 'wait', file)
  // A kernel that noted a request died before it wrote it, and further calls had not begun.
  const before = await temp.embed()
  const { processes } = await before.list({ filter: { parent: agent, kind: 'command' } })
  const server = processes[0]?.record.pid ?? ''
  const calls = [call]
  for (let index = 0; index < 5; index++) {
    const { record } = await before.spawn(callRequest(agent, 'mcp__rough__wait', { file }))
    calls.push(record.pid)
  }
  const value = { server, round: 0 }
  await before
    .as(`process:${agent}`)
    .send({ pid: calls[1] ?? '', name: 'mcp_request', id: `${server}:0`, value })
  await before.close()
  const harness = await McpHarness.open(temp)
  for (const pid of calls) expect(textOf(await harness.called(pid))).toBe('waited')
  expect(lines(temp.folder, 'calls')).toEqual(calls.map(() => 'wait'))
})

test('a reply is written once, also if the next kernel reads its question again', async () => {
  await using temp = new TempReeve()
  const file = join(temp.folder, 'go')
  const { agent, call } = await killedInCall(temp, 'wait', file)
  const first = await McpHarness.open(temp)
  const { record: asking } = await first.reeve.spawn(callRequest(agent, 'mcp__rough__ask', {}))
  for (const value of ['red', '3']) {
    const pending = async () => (await first.reeve.approvals({ state: 'pending' })).approvals
    await expect.poll(async () => (await pending()).length).toBe(1)
    await first.reeve.reply({ id: (await pending())[0]?.id ?? '', value })
  }
  expect(textOf(await first.called(asking.pid))).toContain('"colour":"red"')
  await first.reeve.close()
  const second = await McpHarness.open(temp)
  writeFileSync(file, '')
  expect(textOf(await second.called(call))).toBe('waited')
  const { record: more } = await second.reeve.spawn(callRequest(agent, 'mcp__rough__work', {}))
  expect(textOf(await second.called(more.pid))).toBe('worked')
  const replies = lines(temp.folder, 'heard').filter((line) => line.includes('"q1"'))
  expect(replies).toHaveLength(1)
})
