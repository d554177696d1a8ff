import { existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Embedded } from '../../../src/embed/embed.ts'
import { AgentBench, answers, ended } from './agent-bench.ts'

const WRITE = { tool: 'write_file', input: { path: 'notes.md', content: 'hello\n' } }

/** The approval that a call of the agent waits for. */
async function asked(reeve: Embedded): Promise<string> {
  for await (const _ of reeve.follow({ after: 0 })) {
    const { approvals } = await reeve.approvals({})
    const [first] = approvals
    if (first !== undefined) return first.id
  }
  throw new Error('The feed has ended')
}

test('a call that a rule asks about is born waiting, and runs when a person approves', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:**', rights: ['write'] } })
  const pid = await bench.start(reeve, [[WRITE, { tool: 'list_files' }]])
  const id = await asked(reeve)
  expect(existsSync(join(bench.workspace, 'notes.md'))).toBe(false)
  const { processes } = await reeve.list({ filter: { parent: [pid], waiting: ['approval'] } })
  expect(processes.map(({ record }) => record.identity.label)).toEqual(['write_file'])
  await reeve.approve({ id })
  await ended(reeve, pid)
  expect(readFileSync(join(bench.workspace, 'notes.md'), 'utf8')).toBe('hello\n')
  expect((await answers(reeve, pid)).map(({ isError }) => isError)).toEqual([false, false])
})

test('a model is told that a person changed its call, and with which input it ran', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
  const pid = await bench.start(reeve, [[WRITE]])
  const id = await asked(reeve)
  const { approval } = await reeve.approval({ id })
  const { spec } = await reeve.show({ pid: approval.pid })
  await reeve.approve({ id, spec: { ...spec, input: { path: 'other.md', content: 'hello\n' } } })
  await ended(reeve, pid)
  const [result] = await answers(reeve, pid)
  expect(result?.text).toContain('A person approved this call with changes.')
  expect(result?.text).toContain('It ran with this input instead: {"path":"other.md","content":"hello\\n"}')
  expect(existsSync(join(bench.workspace, 'notes.md'))).toBe(false)
  expect(existsSync(join(bench.workspace, 'other.md'))).toBe(true)
})

test('a denied call is an error that has the advice and the justification', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  const rule = { effect: 'ask', resource: 'tool:write_file', justification: 'Notes are reviewed' }
  await reeve.addRule({ rule })
  const pid = await bench.start(reeve, [[WRITE]])
  await reeve.deny({ id: await asked(reeve), advice: 'Write to docs/ instead' })
  await ended(reeve, pid)
  const [result] = await answers(reeve, pid)
  expect(result).toMatchObject({ isError: true })
  expect(result?.text).toContain('They say: Write to docs/ instead. The rule says: Notes are reviewed.')
  expect(existsSync(join(bench.workspace, 'notes.md'))).toBe(false)
})

test('an expired question is an error, and the call does not run', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file', answerWithinMs: 50 } })
  const [result] = await bench.results(reeve, [[WRITE]])
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('no answer came in time') })
  expect(existsSync(join(bench.workspace, 'notes.md'))).toBe(false)
})

test('a denied path, a denied tool and a closed set are errors without a process', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'deny', resource: 'fs:secret/**', rights: ['read', 'write'] } })
  await reeve.addRule({ rule: { effect: 'deny', resource: 'tool:plan' } })
  mkdirSync(join(bench.workspace, 'secret'))
  symlinkSync(join(bench.workspace, 'secret'), join(bench.workspace, 'open'))
  const results = await bench.results(reeve, [
    [
      { tool: 'write_file', input: { path: 'secret/a', content: '' } },
      { tool: 'write_file', input: { path: 'open/a', content: '' } },
      { tool: 'plan', input: { changes: [] } },
      { tool: 'list_files' },
    ],
  ])
  expect(results.map(({ isError }) => isError)).toEqual([true, true, true, false])
  expect(existsSync(join(bench.workspace, 'secret/a'))).toBe(false)
})

test('the preset edit lets an agent edit files without questions, and asks before the folders of git', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open({ sessionPreset: 'edit' })
  const pid = await bench.start(reeve, [
    [WRITE, { tool: 'plan', input: { changes: [] } }],
    [{ tool: 'write_file', input: { path: '.git/hooks/x', content: '' } }],
  ])
  await reeve.deny({ id: await asked(reeve) })
  await ended(reeve, pid)
  expect((await answers(reeve, pid)).map(({ isError }) => isError)).toEqual([false, false, true])
})

test('a link that is put into an approved path refuses the call', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:**', rights: ['write'] } })
  mkdirSync(join(bench.workspace, 'a'))
  mkdirSync(join(bench.workspace, 'b'))
  const pid = await bench.start(reeve, [[{ tool: 'write_file', input: { path: 'l/x', content: '1' } }]])
  symlinkSync(join(bench.workspace, 'a'), join(bench.workspace, 'l'))
  const id = await asked(reeve)
  unlinkSync(join(bench.workspace, 'l'))
  symlinkSync(join(bench.workspace, 'b'), join(bench.workspace, 'l'))
  await reeve.approve({ id })
  await ended(reeve, pid)
  expect((await answers(reeve, pid))[0]).toMatchObject({ isError: true })
  expect(existsSync(join(bench.workspace, 'b/x'))).toBe(false)
})

test('a process of a built-in tool that another actor registers does not run', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [], { once: false })
  const spec = { tool: 'agent.write_file', input: WRITE.input }
  for (const parent of [undefined, pid]) {
    const { record } = await reeve.spawn({
      kind: 'tool',
      spec,
      ...(parent === undefined ? {} : { parent }),
    })
    const waited = await reeve.wait({ pid: record.pid })
    expect(waited).toMatchObject({ type: 'ended', record: { status: 'failed' } })
  }
  expect(existsSync(join(bench.workspace, 'notes.md'))).toBe(false)
})

test('an approval for the session covers the same call, and no other', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:**', rights: ['write'] } })
  const other = { tool: 'write_file', input: { path: 'other.md', content: '' } }
  const pid = await bench.start(reeve, [[WRITE], [WRITE], [other]])
  await reeve.approve({ id: await asked(reeve), grant: 'session' })
  await expect
    .poll(async () => (await reeve.approvals({})).approvals.map(({ request }) => JSON.stringify(request)))
    .toEqual([expect.stringContaining('other.md')])
  await reeve.deny({ id: await asked(reeve) })
  await ended(reeve, pid)
  expect((await answers(reeve, pid)).map(({ isError }) => isError)).toEqual([false, false, true])
})

test('an edited call is ruled on by what it would do', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
  await reeve.addRule({ rule: { effect: 'deny', resource: 'fs:secret/**', rights: ['write'] } })
  const pid = await bench.start(reeve, [[WRITE]])
  const id = await asked(reeve)
  const edited = (path: string) => ({ tool: 'agent.write_file', input: { path, content: 'edited' } })
  await expect(reeve.approve({ id, spec: edited('secret/a') })).rejects.toMatchObject({ code: 'denied' })
  await reeve.approve({ id, spec: edited('b.md') })
  await ended(reeve, pid)
  expect(readFileSync(join(bench.workspace, 'b.md'), 'utf8')).toBe('edited')
})
