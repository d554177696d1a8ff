import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { agentSessionOf } from '../../src/core/agent/session.ts'
import { childrenOf } from '../command/os-processes.ts'
import { TempReeve } from '../temp-reeve.ts'

const SERVER = join(import.meta.dirname, '../agent/mcp/servers/rough-server.ts')

test('every tool call, command and MCP server of an agent is a process in its tree, and the keeper is the only child of the daemon', async () => {
  await using temp = new TempReeve()
  await temp.start()
  const reeve = await connect({ home: temp.folder })
  onTestFinished(() => reeve.close())
  const go = join(temp.folder, 'go')
  const script = {
    answers: [
      {
        parts: [
          { tool: 'mcp__rough__wait', input: { file: go } },
          { tool: 'run_command', input: { command: `while [ ! -e ${go} ]; do sleep 0.05; done` } },
          { tool: 'ask_human', input: { question: 'Go on?', choices: ['yes', 'no'] } },
        ],
      },
      { parts: [{ text: 'All done.' }] },
    ],
  }
  writeFileSync(join(temp.folder, 'script.json'), JSON.stringify(script))
  const mcpServers = { rough: { type: 'command' as const, argv: [process.execPath, SERVER, temp.folder] } }
  const spec = { agent: 'worker', model: 'scripted/script.json', goal: 'work', once: true, mcpServers }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec })
  const { pid } = record
  const tree = async () => {
    const { processes } = await reeve.list({ filter: { root: pid } })
    return processes.map(({ record: { kind, identity } }) => `${kind} ${identity.label ?? ''}`.trim()).sort()
  }
  const expected = ['command mcp:rough', 'tool ask_human', 'tool mcp__rough__wait', 'tool run_command']
  await expect.poll(tree).toEqual(expect.arrayContaining(expected))
  await expect.poll(async () => (await tree()).filter((one) => one.startsWith('command'))).toHaveLength(2)
  const { osPid } = temp.announced() ?? {}
  expect(childrenOf(osPid ?? 0).map((child) => child.osPid)).toEqual([temp.keeper().osPid])

  writeFileSync(go, '')
  await expect.poll(async () => (await reeve.approvals({})).approvals).toHaveLength(1)
  const { approvals } = await reeve.approvals({})
  await reeve.reply({ id: approvals[0]?.id ?? '', value: 'yes' })
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { result: 'All done.' } } })
  await temp.killDaemon()
})

test('an append to an idle agent is refused, also by the session that owns it and by the agent itself', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 'owner' })
  const spec = { agent: 'idle', model: 'scripted/demo' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec, owner: { session: 'owner' } })
  const { pid } = record
  const before = await reeve.events({ pid })
  const codes = {
    host: 'not_holding',
    'session:owner': 'not_holding',
    [`process:${pid}`]: 'not_holding',
    [`session:${agentSessionOf(pid)}`]: 'denied',
  }
  for (const [actor, code] of Object.entries(codes))
    for (const type of ['turn_ended', 'assistant_item', 'note'])
      await expect(
        reeve.as(actor as 'host').append({ events: [{ pid, type, payload: {} }] }),
        `${type} by ${actor}`,
      ).rejects.toMatchObject({ code })
  expect(await reeve.events({ pid })).toEqual(before)
  await reeve.shutDownAgent({ pid })
})
