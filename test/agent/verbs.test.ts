import { expect, test } from 'vitest'
import { answerOrCode, serveAgents, text } from './served-agents.ts'

test('an input with the same id and other parts is refused, one with the same parts gets the same receipt', async () => {
  const served = await serveAgents()
  const { reeve } = served
  const pid = await served.running()
  const given = (words: string) => reeve.runAgent({ pid, id: 'i', text: words, mode: 'queue' })
  const first = await given('one')
  expect(await given('one')).toEqual(first)
  expect(await answerOrCode(given('two'))).toBe('input_conflict')
  const renamed = reeve.cancelTurn({ pid, id: 'r' })
  await renamed
  expect(await answerOrCode(reeve.pauseAgent({ pid, id: 'r' }))).toBe('replay_conflict')
})

test('at most 64 inputs wait, and the 65th is refused with its limit', async () => {
  const served = await serveAgents()
  const pid = await served.running()
  const queue = (n: number) => served.reeve.runAgent({ pid, id: `i${n}`, text: 'x', mode: 'queue' })
  for (let n = 1; n <= 64; n++) expect(await queue(n)).toMatchObject({ place: n })
  expect(await answerOrCode(queue(65))).toBe('limit_exceeded')
  const { inputs } = await served.reeve.agentInputs({ pid })
  expect(inputs).toHaveLength(64)
})

test('waiting inputs are listed with their parts, edited, removed and reordered', async () => {
  const served = await serveAgents()
  const { reeve } = served
  const pid = await served.running()
  for (const id of ['a', 'b', 'c']) await reeve.runAgent({ pid, id, text: id, mode: 'queue' })
  await reeve.editInput({ pid, input: 'c', text: 'changed' })
  await reeve.removeInput({ pid, input: 'a' })
  await reeve.reorderInputs({ pid, inputs: ['c', 'b'] })
  const { inputs } = await reeve.agentInputs({ pid })
  expect(inputs.map(({ input, parts }) => [input, parts])).toEqual([
    ['c', text('changed')],
    ['b', text('b')],
  ])
  const { inputs: inspected } = await reeve.inspectAgent({ pid })
  expect(inspected).toEqual(inputs)
})

test('a large input is stored as a blob, read back whole, and recognised when it is repeated', async () => {
  const served = await serveAgents()
  const { reeve } = served
  const pid = await served.running()
  const large = 'long '.repeat(300_000)
  const send = (words: string) => reeve.runAgent({ pid, id: 'i', text: words, mode: 'queue' })
  const first = await send(large)
  expect(await send(large)).toEqual(first)
  expect(await answerOrCode(send(`${large}!`))).toBe('input_conflict')
  const { inputs } = await reeve.agentInputs({ pid })
  expect(inputs[0]?.parts).toEqual(text(large))
  const { events } = await reeve.events({ pid, tail: 1 })
  expect(events[0]?.payload).toMatchObject({ input: 'i', parts: [{ type: 'blob' }] })
})

test('content that the model cannot take, and content that is no base64, is refused before the turn', async () => {
  const served = await serveAgents()
  const { reeve } = served
  const pid = await served.idle()
  const file = (mediaType: string, data: string) =>
    answerOrCode(reeve.runAgent({ pid, parts: [{ type: 'file', mediaType, data }] }))
  expect(await file('application/zip', 'AAAA')).toBe('invalid_request')
  expect(await file('application/pdf', 'not base64')).toBe('invalid_input')
  expect((await reeve.inspectAgent({ pid })).turns).toBe(0)
})

test('bad input of each method is refused, and changes nothing', async () => {
  const served = await serveAgents()
  const pid = await served.running()
  const before = await served.reeve.show({ pid })
  const wrong: readonly (readonly [string, object])[] = [
    ['POST run', {}],
    ['POST run', { text: '' }],
    ['POST run', { text: 'x', parts: text('x') }],
    ['POST run', { text: 'x', mode: 'later' }],
    ['POST run', { text: 'x', id: '' }],
    ['POST run', { text: 'x', id: 'a\nb' }],
    ['POST run', { text: 'x', maxTurns: 3 }],
    ['POST run', { text: 'x', until: { type: 'shell', run: 'true' } }],
    ['POST run', { text: 'x', schema: { type: 'nothing' } }],
    ['POST run', { parts: [{ type: 'video', data: 'AAAA' }] }],
    ['POST run', { parts: [] }],
    ['POST run', { text: 'x', unknown: 1 }],
    ['POST resume', { force: true }],
    ['POST cancel-turn', { dropQueued: 'yes' }],
    ['POST pause', { id: 7 }],
    ['POST notify', { text: 'x', cause: 'child' }],
    ['POST compact', { expectedHead: 0.5 }],
    ['POST shut-down', { reason: '' }],
    ['POST configure', { model: 'no-provider' }],
    ['POST allow', { amounts: { luck: 1 } }],
    ['POST allow', { amounts: { cost: -1 } }],
    ['PUT inputs', { inputs: [] }],
    ['PUT inputs/x', { text: 7 }],
  ]
  for (const [what, body] of wrong) {
    const [method, path] = what.split(' ')
    const said = await served.ask(`${method} /v1/agents/${pid}/${path}`, { body })
    expect([what, body, said.status, said.json.code]).toEqual([what, body, 422, 'invalid_input'])
  }
  for (const query of ['turn=0', 'timeoutMs=-1', 'until=x'])
    expect((await served.ask(`GET /v1/agents/${pid}/wait?${query}`)).status).toBe(422)
  expect(await served.reeve.show({ pid })).toEqual(before)
})

test('an unknown pid, a process that is no agent, and an agent of another session are refused', async () => {
  const served = await serveAgents()
  const { reeve } = served
  for (const session of ['own', 'other']) await reeve.openSession({ session })
  const outside = await reeve.spawn({
    kind: 'external',
    spec: { description: 'x' },
    owner: { session: 'own' },
  })
  const pid = await served.running({}, { owner: { session: 'own' } })
  const other = await served.client({ role: 'agent', session: 'other' })
  const own = await served.client({ role: 'agent', session: 'own' })
  const before = await reeve.show({ pid })
  const calls = (client: typeof reeve, of: string) => [
    client.runAgent({ pid: of, text: 'x', mode: 'queue' }),
    client.cancelTurn({ pid: of }),
    client.pauseAgent({ pid: of }),
    client.notifyAgent({ pid: of, text: 'x' }),
    client.configureAgent({ pid: of, model: 'a/b' }),
    client.shutDownAgent({ pid: of }),
    client.inspectAgent({ pid: of }),
    client.agentInputs({ pid: of }),
    client.agentCost({ pid: of }),
    client.waitAgent({ pid: of }),
  ]
  const codes = async (client: typeof reeve, of: string) =>
    new Set(await Promise.all(calls(client, of).map(answerOrCode)))
  expect(await codes(reeve, 'p_000000000000')).toEqual(new Set(['unknown_pid']))
  expect(await codes(reeve, outside.record.pid)).toEqual(new Set(['invalid_request']))
  expect(await codes(other, pid)).toEqual(new Set(['denied']))
  expect(await reeve.show({ pid })).toEqual(before)
  expect((await other.agents()).agents).toEqual([])
  expect((await own.agents()).agents.map((one) => one.pid)).toEqual([pid])
  // A session runs its own agents, and does not raise their limits.
  expect(await own.cancelTurn({ pid })).toMatchObject({ type: 'cancelled' })
  expect(await answerOrCode(own.allowAgent({ pid, amounts: { cost: 1 } }))).toBe('denied')
})

test('a wait ends with the turn and its result, a pause, idleness and the end of the agent', async () => {
  const served = await serveAgents()
  const { reeve } = served
  const pid = await served.running()
  expect(await reeve.waitAgent({ pid, timeoutMs: 10 })).toMatchObject({ type: 'timed_out' })
  const aborted = await reeve.waitAgent({ pid }, { signal: AbortSignal.timeout(50) })
  expect(aborted).toEqual({ type: 'interrupted' })
  const idle = reeve.waitAgent({ pid })
  const first = reeve.waitAgent({ pid, turn: 1 })
  await served.finish(pid, 'all tests pass')
  const turn = { turn: 1, reason: 'finished', result: 'all tests pass', calls: 2 }
  expect(await first).toMatchObject({ type: 'turn_ended', turn })
  expect(await idle).toMatchObject({ type: 'idle', turn })
  const second = reeve.waitAgent({ pid, turn: 2 })
  await reeve.runAgent({ pid, text: 'again' })
  await served.held(pid)
  await reeve.pauseAgent({ pid })
  expect(await second).toMatchObject({ type: 'paused', turn })
  const end = reeve.waitAgent({ pid, turn: 3 })
  await reeve.shutDownAgent({ pid })
  expect(['paused', 'ended']).toContain((await end).type)
  await reeve.wait({ pid })
  expect(await reeve.waitAgent({ pid })).toMatchObject({
    type: 'ended',
    turn: { turn: 2, reason: 'cancelled' },
  })
})

test('cost is shown by call, turn, agent and tree, and an unknown cost is unknown', async () => {
  const served = await serveAgents()
  const { reeve } = served
  const pid = await served.running()
  const { use } = await served.held(pid)
  await use(1, 0.25)
  await served.finish(pid)
  const { total, tree, turns } = await reeve.agentCost({ pid })
  const used = { inputTokens: 100, outputTokens: 10, cost: 0.25, unpriced: 0 }
  expect([total, tree]).toEqual([used, used])
  expect(turns).toMatchObject([{ turn: 1, ...used, calls: [{ call: 1, cachedInputTokens: 40, cost: 0.25 }] }])
  const other = await served.running()
  await (await served.held(other)).use(1, null)
  const unknown = { inputTokens: 100, outputTokens: 10, cost: null, unpriced: 1 }
  expect(await reeve.agentCost({ pid: other })).toMatchObject({
    total: unknown,
    tree: unknown,
    turns: [unknown],
  })
  expect(await reeve.inspectAgent({ pid: other })).toMatchObject({ ...unknown, contextTokens: 110 })
})

test('the spec of an agent names fallbacks, effort and MCP servers, with secrets by name', async () => {
  const served = await serveAgents()
  const spec = {
    fallbacks: ['a/b'],
    effort: 'high' as const,
    maxOutputTokens: 1_000,
    mcpServers: mcpServers(),
  }
  const pid = await served.idle(spec)
  expect((await served.reeve.show({ pid })).spec).toMatchObject(spec)
  const { configuration } = await served.reeve.inspectAgent({ pid })
  expect(configuration).toContainEqual({ name: 'effort', value: 'high', source: 'spec' })
  await served.reeve.configureAgent({ pid, model: 'scripted/demo' })
  const changed = await served.reeve.inspectAgent({ pid })
  expect(changed.configuration).toContainEqual({ name: 'model', value: 'scripted/demo', source: 'request' })
  for (const wrong of [
    { effort: 'extreme' },
    { fallbacks: ['none'] },
    { mcpServers: { 'a b': mcpServers().files } },
    { mcpServers: { a: { type: 'command' } } },
    { mcpServers: { a: { type: 'http', url: 'ftp://x' } } },
  ])
    expect(await answerOrCode(served.idle(wrong as object))).toBe('invalid_input')
})

function mcpServers() {
  const token = { secret: 'WEB' }
  return {
    files: { type: 'command' as const, argv: ['mcp-files'], env: { TOKEN: { secret: 'FILES' } } },
    web: {
      type: 'http' as const,
      url: 'https://mcp.example/v1',
      auth: { type: 'bearer' as const, token },
    },
  }
}
