import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'

const ROUGH = join(import.meta.dirname, 'servers/rough-server.ts')
const contentOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** An agent that calls a tool of its server once, and ends with what the tool says. */
function waitingAgent(folder: string) {
  const script = {
    replies: [
      { when: { tool: 'mcp__rough__wait', result: 'waited' }, answer: { parts: [{ text: 'It waited.' }] } },
    ],
    answers: [{ parts: [{ tool: 'mcp__rough__wait', input: { file: join(folder, 'go') } }] }],
  }
  writeFileSync(join(folder, 'script.json'), JSON.stringify(script))
  const server = { type: 'command' as const, argv: [process.execPath, ROUGH, folder] }
  return {
    kind: 'agent' as const,
    cwd: folder,
    spec: {
      agent: 'waiter',
      model: 'scripted/script.json',
      goal: 'wait',
      once: true,
      mcpServers: { rough: server, none: { type: 'command' as const, argv: ['/no/such/program'] } },
    },
  }
}

test('an agent calls a tool of a server, and trouble with another server is an entry', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  writeFileSync(join(temp.folder, 'go'), '')
  const { record } = await reeve.spawn(waitingAgent(temp.folder))
  expect(await reeve.wait({ pid: record.pid })).toMatchObject({
    record: { outcome: { status: 'completed', result: 'It waited.' } },
  })
  const { processes } = await reeve.list({ filter: { root: record.pid, status: 'any' } })
  expect(processes.map(({ record: { kind, identity } }) => `${kind} ${identity.label}`)).toEqual(
    expect.arrayContaining(['command mcp:rough', 'tool mcp__rough__wait']),
  )
  const { events } = await reeve.events({ pid: record.pid, limit: 1_000 })
  const trouble = events.filter(({ type }) => type === 'agent_failed').map(({ payload }) => payload)
  expect(trouble).toMatchObject([{ code: 'mcp_server_unavailable' }, { code: 'mcp_tools_omitted' }])
})

test('kill -9 of the daemon in the middle of a call: the next daemon gets the answer, and the call was made once', async () => {
  await using temp = new TempReeve()
  await temp.start()
  const { record } = await (await connect({ home: temp.folder })).spawn(waitingAgent(temp.folder))
  await expect.poll(() => contentOf(join(temp.folder, 'calls'))).toBe('wait\n')
  await temp.killDaemon()
  await temp.start()
  const reeve = await connect({ home: temp.folder })
  writeFileSync(join(temp.folder, 'go'), '')
  await expect.poll(async () => (await reeve.wait({ pid: record.pid, timeoutMs: 1_000 })).type).toBe('ended')
  expect(await reeve.show({ pid: record.pid })).toMatchObject({ outcome: { result: 'It waited.' } })
  expect(contentOf(join(temp.folder, 'calls'))).toBe('wait\n')
  expect(contentOf(join(temp.folder, 'heard')).match(/"initialize"/g)).toHaveLength(1)
  await temp.killDaemon()
})
