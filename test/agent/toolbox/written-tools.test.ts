import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { refuseHandingDown } from '../../../src/core/tool/written-tool.ts'
import type { Embedded } from '../../../src/embed/embed.ts'
import { AgentBench, answers, ended } from './agent-bench.ts'
import type { FakeCall } from './fake-agent.ts'

const COUNT: JsonObject = {
  name: 'count_lines',
  description: 'Counts the lines of a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  source: `export default async ({ path }: { path: string }, reeve: any) => {
  const text: string = await reeve.read_file({ path })
  return text.split('\\n').filter((line) => /lines/.test(line)).length
}`,
}

const propose = (more: JsonObject = {}): FakeCall => ({ tool: 'propose_tool', input: { ...COUNT, ...more } })
const count = (input: JsonObject = { path: 'a.txt' }): FakeCall => ({ tool: 'count_lines', input })

function opened() {
  const bench = new AgentBench()
  writeFileSync(join(bench.workspace, 'a.txt'), 'some lines\nmore lines\n')
  return bench
}

async function asked(reeve: Embedded) {
  await expect
    .poll(async () => (await reeve.approvals({})).approvals.length, { timeout: 20_000, interval: 20 })
    .toBe(1)
  const [approval] = (await reeve.approvals({})).approvals
  if (approval === undefined) throw new Error('No person is asked')
  return approval
}

test('a tool that an agent proposes counts once a person has read it, also in the next kernel', async () => {
  const bench = opened()
  const first = await bench.open()
  const pid = await bench.start(first, [[propose()], [count()], [count({ path: 3 })]])
  const approval = await asked(first)
  expect(approval.request).toMatchObject({ type: 'permission', action: { act: { input: COUNT } } })
  expect((await first.writtenTools({ pid })).tools).toEqual([])
  await first.close()
  const second = await bench.open()
  await second.approve({ id: approval.id, grant: 'once' })
  await ended(second, pid)
  expect((await answers(second, pid)).map(({ isError, text }) => [isError, text])).toEqual([
    [false, 'You have the tool count_lines now, version 1.'],
    [false, '2'],
    [true, expect.stringContaining('The input of count_lines is wrong')],
  ])
  const { tools } = await second.writtenTools({ pid })
  expect(tools).toMatchObject([
    {
      name: 'count_lines',
      version: 1,
      owner: pid,
      approval: approval.id,
      by: `process:${pid}`,
      revoked: null,
    },
  ])
  const shown = await second.writtenTools({ pid, name: 'count_lines' })
  expect(shown.tools).toMatchObject([{ ...COUNT, hash: tools[0]?.hash }])
  await expect(second.writtenTools({ pid, name: 'other' })).rejects.toMatchObject({ code: 'not_found' })
})

test('a tool that a person denies is not registered', async () => {
  const bench = opened()
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [[propose()], [count()]])
  const { id } = await asked(reeve)
  await reeve.deny({ id, advice: 'Use wc.' })
  await ended(reeve, pid)
  expect((await answers(reeve, pid)).map(({ text }) => text)).toEqual([
    'A person denied this call; it did not run. They say: Use wc.',
    expect.stringContaining('There is no tool "count_lines"'),
  ])
  expect((await reeve.writtenTools({ pid })).tools).toEqual([])
})

test('a rule that allows a tool by name lets an agent register it, and it replaces no other tool', async () => {
  const bench = opened()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'allow', resource: 'tool:*' } })
  await reeve.addRule({ rule: { effect: 'allow', rights: ['read'], resource: 'fs:**' } })
  const pid = await bench.start(reeve, [
    [propose(), propose({ name: 'read_file' }), propose({ name: 'other', inputSchema: { type: 'wrong' } })],
    [count()],
    [propose({ description: 'Another version.' })],
  ])
  await ended(reeve, pid)
  expect((await answers(reeve, pid)).map(({ text }) => text)).toEqual([
    'You have the tool count_lines now, version 1.',
    'There is a tool read_file already. Take another name.',
    expect.stringContaining('The schema cannot be used'),
    '2',
    'You have the tool count_lines now, version 2.',
  ])
  expect((await reeve.writtenTools({ pid })).tools).toMatchObject([{ approval: null, version: 2 }])
})

test('a revoked tool is refused from the next call on, also to an agent that it was handed to', async () => {
  const bench = opened()
  const reeve = await bench.open()
  for (const resource of ['tool:*', 'agent:*', 'model:**', 'fs:**'])
    await reeve.addRule({ rule: { effect: 'allow', resource } })
  const waits: FakeCall = { tool: 'ask_human', input: { question: 'Go on?' } }
  const pid = await bench.start(reeve, [[propose()], [waits]])
  const { id: ofParent } = await asked(reeve)
  const handed = await bench.start(
    reeve,
    [[count()], [waits], [count()]],
    { writtenTools: ['count_lines'] },
    { parent: pid },
  )
  const other = await bench.start(reeve, [[count()]], {}, { parent: pid })
  await ended(reeve, other)
  await expect
    .poll(async () => (await reeve.approvals({})).approvals.length, { timeout: 20_000, interval: 20 })
    .toBe(2)
  expect((await reeve.writtenTools({ pid: handed })).tools).toMatchObject([
    { name: 'count_lines', owner: pid },
  ])
  await reeve.revokeTool({ pid, name: 'count_lines', reason: 'wrong' })
  expect((await reeve.writtenTools({ pid })).tools).toMatchObject([
    { revoked: { reason: 'wrong', by: 'host' } },
  ])
  const { approvals } = await reeve.approvals({})
  for (const { id } of approvals) if (id !== ofParent) await reeve.reply({ id, value: 'yes' })
  await ended(reeve, handed)
  const gone = expect.stringContaining('There is no tool "count_lines"')
  expect((await answers(reeve, handed)).map(({ text }) => text)).toEqual(['2', 'yes', gone])
  expect((await answers(reeve, other)).map(({ text }) => text)).toEqual([gone])
  await reeve.reply({ id: ofParent, value: 'yes' })
  await ended(reeve, pid)
  const { entries } = await reeve.audit({ limit: 200 })
  const acts = entries.flatMap((entry) => (entry.type === 'entry' ? [entry.action] : []))
  expect(acts).toEqual(expect.arrayContaining(['registerTool', 'revokeTool']))
})

test('an agent hands down only what it may call itself', () => {
  expect(refuseHandingDown('p_000000000001', [], [])).toBeUndefined()
  expect(refuseHandingDown('p_000000000001', [], ['count_lines'])).toMatchObject({ code: 'not_found' })
})
