import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'

const ROUGH = join(import.meta.dirname, 'servers/rough-server.ts')
const SDK = join(import.meta.dirname, 'servers/sdk-server.ts')
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

test('a server that hangs, answers late and dies: each call has its error, the death is an entry, and the turn goes on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const call = (tool: string) => ({ parts: [{ tool: `mcp__rough__${tool}`, input: {} }] })
  const answers = [call('hang'), call('late'), call('die'), call('work'), { parts: [{ text: 'It works.' }] }]
  writeFileSync(join(temp.folder, 'script.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  const rough = { type: 'command' as const, argv: [process.execPath, ROUGH, temp.folder], timeoutMs: 2_000 }
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: temp.folder,
    spec: { agent: 'tester', model: 'scripted/script.json', goal: 'go', mcpServers: { rough } },
  })
  const { pid } = record
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: 'It works.' },
  })
  const { events } = await reeve.events({ pid, limit: 1_000 })
  const of = (type: string) => events.filter((event) => event.type === type).map(({ payload }) => payload)
  expect(of('tool_answered')).toMatchObject([
    { isError: true, parts: [{ text: expect.stringContaining('has not answered tools/call within 2 s') }] },
    { isError: true, parts: [{ text: expect.stringContaining('has not answered tools/call within 2 s') }] },
    {
      isError: true,
      parts: [{ text: expect.stringContaining('Whether the call had an effect is unknown') }],
    },
    { isError: false, parts: [{ text: 'worked' }] },
  ])
  expect(of('agent_failed')).toContainEqual(
    expect.objectContaining({ code: 'mcp_server_ended', message: expect.stringContaining('exit code 3') }),
  )
  await reeve.runAgent({ pid, text: 'again' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  await reeve.shutDownAgent({ pid })
  await reeve.wait({ pid })
})

test('a server that changes a tool: the change is an entry, a person is asked, and the session goes on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const changed = join(temp.folder, 'changed')
  const shifting = { parts: [{ tool: 'mcp__sdk__shifting', input: {} }] }
  const answers = [shifting, { parts: [{ text: 'one' }] }, shifting, { parts: [{ text: 'two' }] }]
  writeFileSync(join(temp.folder, 'script.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  const sdk = { type: 'command' as const, argv: [process.execPath, SDK, changed] }
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: temp.folder,
    spec: { agent: 'tester', model: 'scripted/script.json', goal: 'go', mcpServers: { sdk } },
  })
  const { pid } = record
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { result: 'one' } })
  writeFileSync(changed, '')
  // The list of tools is asked for again with each turn.
  await expect
    .poll(
      async () => {
        await reeve.runAgent({ pid, text: 'again', mode: 'queue' })
        await reeve.waitAgent({ pid })
        const { events } = await reeve.events({ pid, limit: 1_000 })
        return events.filter(({ type }) => type === 'agent_failed').map(({ payload }) => Object(payload).code)
      },
      { timeout: 60_000 },
    )
    .toContain('mcp_tool_changed')
  const { approvals } = await reeve.approvals({})
  expect(approvals).toMatchObject([{ request: { text: expect.stringContaining('shifting') } }])
  const { turns } = await reeve.inspectAgent({ pid })
  await reeve.runAgent({ pid, text: 'more' })
  expect(await reeve.waitAgent({ pid, turn: turns + 1 })).toMatchObject({ turn: { reason: 'finished' } })
  await reeve.shutDownAgent({ pid })
  await reeve.wait({ pid })
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

test('a prompt of a server is a slash command: the model reads its content, and an unknown one is refused before it is admitted', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const answers = [{ parts: [{ text: 'Reviewed.' }] }]
  writeFileSync(join(temp.folder, 'script.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  const sdk = { type: 'command' as const, argv: [process.execPath, SDK] }
  const spec = { agent: 'reviewer', model: 'scripted/script.json', mcpServers: { sdk } }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec })
  const { pid } = record
  const command = { type: 'command' as const, name: 'mcp__sdk__review', arguments: 'a.ts the error paths' }
  const unknown = reeve.runAgent({ pid, parts: [{ ...command, name: 'mcp__sdk__reviews' }] })
  await expect(unknown).rejects.toMatchObject({
    code: 'invalid_request',
    details: { problem: 'unknown_command' },
    remedy: expect.stringContaining('/mcp__sdk__review'),
  })
  const missing = reeve.runAgent({ pid, parts: [{ type: 'command', name: 'mcp__sdk__review' }] })
  await expect(missing).rejects.toMatchObject({ message: expect.stringContaining('needs file') })
  expect((await reeve.inspectAgent({ pid })).turns).toBe(0)
  expect(await reeve.completeInput({ pid, text: '/mcp__sdk__re' })).toEqual({
    from: 0,
    completions: [
      {
        type: 'command',
        text: '/mcp__sdk__review',
        source: 'mcp:sdk',
        about: '<file> <focus> Reviews a file',
      },
    ],
    more: false,
  })
  const started = await reeve.runAgent({ pid, id: 'one', parts: [command] })
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await reeve.runAgent({ pid, id: 'one', parts: [command] })).toEqual(started)
  const { items } = await reeve.agentLog({ pid })
  const input = items.find(({ type }) => type === 'input_promoted')
  expect(input?.payload).toMatchObject({
    parts: [
      { type: 'command', given: { name: 'mcp__sdk__review', arguments: 'a.ts the error paths' } },
      { type: 'text', text: expect.stringContaining('Review a.ts, above all the error paths, with ') },
    ],
  })
  expect(JSON.stringify(items)).not.toContain('q7Rt2Wx9q7Rt2Wx9')
})
