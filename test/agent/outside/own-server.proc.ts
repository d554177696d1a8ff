import { connect } from 'reeve'
import { expect, test } from 'vitest'
import { reeveMcp } from '../../mcp/reeve-mcp.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { lastTurn, OutsideAgent } from './outside-agent.ts'

test('a command that the program starts with its MCP server of Reeve belongs to the agent, and ends with it', async () => {
  await using temp = new TempReeve()
  await temp.start(['--listen', 'off'])
  const reeve = await connect({ home: temp.folder })
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['say hi'])
  await lastTurn(reeve, pid)
  const [line = ''] = outside.heard('servers')
  const [server] = JSON.parse(line.slice('servers '.length))
  expect(server).toMatchObject({ name: 'reeve', args: [expect.stringContaining('main'), 'mcp'] })
  const env = Object.fromEntries(
    server.env.map((one: { name: string; value: string }) => [one.name, one.value]),
  )
  expect(env).toEqual({ REEVE_HOME: temp.folder, REEVE_SESSION: `agent:${pid}`, REEVE_PARENT: pid })
  const client = await reeveMcp(temp, { era: 'modern', cwd: outside.folder, env })
  const started = await client.callTool({
    name: 'process_start',
    arguments: { run: 'sleep 1000', name: 'sleeper' },
  })
  expect(started.isError ?? false, JSON.stringify(started.content)).toBe(false)
  await client.close()
  const sleeper = await reeve.show({ pid: 'sleeper' })
  expect(sleeper).toMatchObject({ parent: pid, owner: { session: `agent:${pid}` } })
  const { commands } = await reeve.inspectAgent({ pid })
  expect(commands.map((one) => one.identity.label).sort()).toEqual([
    'acp:scripted',
    expect.stringContaining('sleep'),
  ])
  await reeve.shutDownAgent({ pid })
  const ended = await reeve.wait({ pid: sleeper.pid, timeoutMs: 60_000 })
  expect(ended.type).toBe('ended')
  await temp.killDaemon()
  await reeve.close()
})
