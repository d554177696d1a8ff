import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { TokenFile } from '../../../src/daemon/token-file.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { McpHarness, textOf } from './mcp-harness.ts'

const REEVE = join(inject('builtReeve'), 'dist/main.js')

test('reeve mcp is a server like any other, with tasks', async () => {
  await using temp = new TempReeve()
  await using other = new TempReeve()
  await other.start()
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({
    reeve: { type: 'command', argv: [process.execPath, REEVE, 'mcp'], env: other.env, cwd: temp.folder },
  })
  expect((await harness.tools(agent)).map(({ name }) => name)).toContain('mcp__reeve__process_start')
  // It takes longer than the server waits, so that the answer is a task.
  const slow = 'sleep 3; echo finished slowly'
  expect(textOf(await harness.call(agent, 'mcp__reeve__process_start', { run: slow }))).toContain(
    'finished slowly',
  )
  const servers = await harness.reeve.list({ filter: { parent: agent.pid, kind: 'command' } })
  for (const { record } of servers.processes) await harness.reeve.kill({ pid: record.pid })
  await other.killDaemon()
})

test('a daemon is a server over HTTP, with tasks', async () => {
  await using temp = new TempReeve()
  const other = new TempReeve()
  const daemon = await other.up()
  const harness = await McpHarness.open(temp, {
    secrets: { KEY: new TokenFile(other.home).create({ role: 'operate' }).token },
  })
  const agent = await harness.agent({
    web: {
      type: 'http',
      url: `${daemon.url}/mcp?folder=${temp.folder}`,
      auth: { type: 'bearer', token: { secret: 'KEY' } },
    },
  })
  const slow = 'sleep 3; echo finished slowly'
  expect(textOf(await harness.call(agent, 'mcp__web__process_start', { run: slow }))).toContain(
    'finished slowly',
  )
})
