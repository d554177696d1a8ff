import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embedWith } from '../../src/embed/embed.ts'
import { embedTemp } from '../embed-temp.ts'
import { tempFolder } from '../temp-folder.ts'
import { call, ERAS, overHttp } from './connected.ts'

const OPERATOR = { role: 'operate', actor: 'host', tokenId: 't', person: 'human:ada' } as const

function script(): { readonly cwd: string; readonly model: string } {
  const cwd = mkdtempSync(join(tmpdir(), 'reeve-mcp-agent-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const file = join(cwd, 'script.json')
  writeFileSync(file, JSON.stringify({ replies: [{ when: {}, answer: { parts: [{ text: 'All done.' }] } }] }))
  return { cwd, model: `scripted/${file}` }
}

for (const era of ERAS) {
  test(`in the ${era} era an operator starts an agent, sends to it, waits for it, reads it and lists it`, async () => {
    const client = await overHttp(await embedTemp(), { era, caller: OPERATOR })
    const { cwd, model } = script()
    const started = await call(client, 'agent_start', { goal: 'Say it.', model, cwd, name: 'sayer' })
    expect(started.text).toMatch(/^p_\w+ has begun\. agent_wait/)
    const waited = await call(client, 'agent_wait', { pid: 'sayer' })
    expect(waited.text).toMatch(/^p_\w+ is idle\. Turn 1 ended: finished\.\nAll done\.$/)
    const sent = await call(client, 'agent_send', { pid: 'sayer', text: 'Again.' })
    expect(sent.text).toMatch(/^Turn 2 of sayer begins with it\./)
    const again = await call(client, 'agent_wait', { pid: 'sayer', turn: 2 })
    expect(again.text).toBe('Turn 2 ended: finished.\nAll done.')
    const read = await call(client, 'agent_read', { pid: 'sayer' })
    expect(read.text.split('\n').slice(1)).toEqual([
      '-- turn 1 --',
      'input: Say it.',
      'agent: All done.',
      '-- turn 1 ended: finished --',
      '-- turn 2 --',
      'input: Again.',
      'agent: All done.',
      '-- turn 2 ended: finished --',
    ])
    const listed = await call(client, 'agent_list')
    expect(listed.text).toMatch(/^p_\w+ base "sayer": idle, turn 2, scripted\//)
  })
}

test('an operator reads of an unknown agent what is wrong, and what to do', async () => {
  const client = await overHttp(await embedTemp(), { era: 'modern', caller: OPERATOR })
  for (const name of ['agent_wait', 'agent_read'])
    expect((await client.callTool({ name, arguments: { pid: 'nobody' } })).isError).toBe(true)
})

test('the list for an operator with the tools for agents stays below 14,000 characters', async () => {
  const client = await overHttp(await embedTemp(), { era: 'modern', caller: OPERATOR })
  const { tools } = await client.listTools()
  const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  expect(JSON.stringify(sent).length).toBeLessThan(14_000)
})

test('an agent that is started without a model gets that of its image, or the default, and is refused without both', async () => {
  const reeve = await embedWith(
    { store: join(tempFolder(), 'reeve.db') },
    { modelDefaults: () => ({ model: 'scripted/demo', keys: [] }) },
  )
  onTestFinished(() => reeve.close())
  const client = await overHttp(reeve, { era: 'modern', caller: OPERATOR })
  const { cwd } = script()
  await call(client, 'agent_start', { goal: 'Say it.', cwd, name: 'plain' })
  await call(client, 'agent_start', { goal: 'Say it.', cwd, name: 'looks', image: 'reviewer' })
  expect(await reeve.inspectAgent({ pid: 'plain' })).toMatchObject({
    model: 'scripted/demo',
    image: { name: 'base' },
  })
  expect(await reeve.inspectAgent({ pid: 'looks' })).toMatchObject({
    model: 'scripted/demo',
    image: { name: 'reviewer' },
  })
  expect((await reeve.status({})).models).toEqual({ default: 'scripted/demo', keys: [] })
  const without = await overHttp(await embedTemp(), { era: 'modern', caller: OPERATOR })
  const refused = await without.callTool({ name: 'agent_start', arguments: { goal: 'Say it.', cwd } })
  expect(refused.isError).toBe(true)
  expect(JSON.stringify(refused.content)).toContain('names no model')
})
