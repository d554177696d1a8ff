import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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

test('listings, searches and completions leave out what the rules deny or ask about', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'deny', resource: 'fs:secret/**' } })
  await reeve.addRule({ rule: { effect: 'deny', resource: 'fs:.env' } })
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:asked/**' } })
  await reeve.addRule({
    rule: { effect: 'deny', resource: 'fs:**', constraints: { paths: ['src/**/*.pem'] } },
  })
  const files = [
    'secret/deep/a.txt',
    '.env',
    'asked/a.txt',
    'src/key.pem',
    'src/secret/a.txt',
    'secretary.txt',
  ]
  for (const file of files) {
    mkdirSync(join(bench.workspace, file, '..'), { recursive: true })
    writeFileSync(join(bench.workspace, file), 'PRIVATE\n')
  }
  const pid = await bench.start(
    reeve,
    [
      [
        { tool: 'search_files', input: { text: 'PRIVATE' } },
        { tool: 'list_files', input: { depth: 4 } },
      ],
    ],
    { once: false },
  )
  await expect.poll(async () => (await answers(reeve, pid)).length).toBe(2)
  expect((await answers(reeve, pid)).map(({ text }) => text.split('\n'))).toEqual([
    ['secretary.txt:1: PRIVATE', 'src/secret/a.txt:1: PRIVATE'],
    ['secretary.txt', 'src/', 'src/secret/', 'src/secret/a.txt'],
  ])
  const { completions } = await reeve.completeInput({ pid, text: '@' })
  expect(completions.map(({ text }) => text)).toEqual(['@secretary.txt', '@src/'])
})

test('a folder that a person was asked about is listed with its files, and without those of another rule', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:**' } })
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:other/**' } })
  for (const folder of ['own', 'other']) {
    mkdirSync(join(bench.workspace, folder))
    writeFileSync(join(bench.workspace, folder, 'a.txt'), '')
  }
  const pid = await bench.start(reeve, [[{ tool: 'list_files', input: { depth: 2 } }]])
  await reeve.approve({ id: await asked(reeve) })
  await ended(reeve, pid)
  expect((await answers(reeve, pid))[0]?.text).toBe('own/\nown/a.txt')
})

test('a closed set lists what it allows, also with the last use of its rule', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  const to = { type: 'session', session: 's1' } as const
  await reeve.openSession({ session: 's1' })
  await reeve.addRule({ to, rule: { effect: 'allow', resource: 'fs:src/**', uses: 1 } })
  mkdirSync(join(bench.workspace, 'src'))
  writeFileSync(join(bench.workspace, 'src/a.txt'), 'x')
  const list = { tool: 'list_files', input: { path: 'src' } }
  const pid = await bench.start(
    reeve,
    [[list], [list, { tool: 'list_files' }]],
    {},
    { owner: { session: 's1' } },
  )
  await ended(reeve, pid)
  expect((await answers(reeve, pid)).map(({ isError, text }) => (isError ? 'denied' : text))).toEqual([
    'src/a.txt',
    'denied',
    'denied',
  ])
})

/** A server on a port of its own. */
async function serving(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

test('a redirect does not lead out of the ceiling of the agent, and neither does a reference to a file', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  let hits = 0
  const second = await serving((_, response) => response.end(`hit ${++hits}`))
  const first = await serving((request, response) => {
    const location = `http://127.0.0.1:${request.url === '/away' ? second : first}/here`
    if (request.url === '/here') response.setHeader('content-type', 'text/plain').end('FIRST')
    else response.writeHead(302, { location }).end()
  })
  await reeve.addRule({ rule: { effect: 'allow', resource: 'net:127.0.0.1', rights: ['read'] } })
  await reeve.addRule({ rule: { effect: 'allow', resource: 'fs:**' } })
  writeFileSync(join(bench.workspace, 'a.txt'), 'text')
  const fetched = (port: number, path: string) => ({
    tool: 'web_fetch',
    input: { url: `http://127.0.0.1:${port}${path}` },
  })
  const rules = [
    { effect: 'allow', resource: `net:127.0.0.1:${first}`, rights: ['read'] },
    { effect: 'allow', resource: 'tool:**', rights: ['execute'] },
  ]
  const script = [[fetched(second, '/'), fetched(first, '/away'), fetched(first, '/back')]]
  const pid = await bench.start(reeve, script, { once: false }, { ceiling: { rules } })
  await expect.poll(async () => (await answers(reeve, pid)).length).toBe(3)
  const found = await answers(reeve, pid)
  expect(found.map(({ isError }) => isError)).toEqual([true, true, false])
  expect(found[2]?.text).toContain('FIRST')
  expect(hits).toBe(0)
  const reference = { type: 'reference', path: 'a.txt' } as const
  await expect(reeve.runAgent({ pid, parts: [reference] })).rejects.toMatchObject({
    details: { problem: 'refused' },
  })
  expect((await reeve.completeInput({ pid, text: '@' })).completions).toEqual([])
})

test('an allow with maxBytes allows writes whose file is no larger than that, also by an edit of a grown file', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'allow', resource: 'fs:**', rights: ['read'] } })
  const constraints = { maxBytes: 10 }
  await reeve.addRule({ rule: { effect: 'allow', resource: 'fs:**', rights: ['write'], constraints } })
  const write = (path: string, content: string) => ({ tool: 'write_file', input: { path, content } })
  const edit = (oldText: string, newText: string) => ({
    tool: 'edit_file',
    input: { path: 'a.txt', edits: [{ oldText, newText }] },
  })
  const results = await bench.results(reeve, [
    [write('a.txt', 'one\ntwo\n'), write('b.txt', 'äöüäöü')],
    [edit('one', '1st'), edit('two', 'second\n')],
    // Either is small enough for the file as it is now, and both together are not.
    [edit('1st', '1st!'), edit('two', 'two!!')],
    [edit('none', 'x')],
  ])
  const codes = results.map(({ isError, text }) => (isError ? text : 'ok'))
  const denied = expect.stringContaining('No rule of home allows write fs:')
  expect(codes).toEqual([
    'ok',
    denied,
    'ok',
    denied,
    expect.any(String),
    expect.any(String),
    expect.stringContaining('oldText is not in a.txt'),
  ])
  expect(codes.slice(4, 6)).toEqual(expect.arrayContaining(['ok', denied]))
  expect(statSync(join(bench.workspace, 'a.txt')).size).toBeLessThanOrEqual(10)
  expect(existsSync(join(bench.workspace, 'b.txt'))).toBe(false)
})

test('a rule about a file tool may be about some files alone, relative or absolute', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  const deny = (paths: string[]) =>
    reeve.addRule({ rule: { effect: 'deny', resource: 'tool:write_file', constraints: { paths } } })
  await deny(['generated/**'])
  await deny([`${bench.workspace}/*.lock`])
  const write = (path: string) => ({ tool: 'write_file', input: { path, content: '' } })
  const results = await bench.results(reeve, [[write('generated/a'), write('a.lock'), write('src/a.lock')]])
  expect(results.map(({ isError }) => isError)).toEqual([true, true, false])
})
