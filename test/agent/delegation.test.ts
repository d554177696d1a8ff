import type { Embedded, InputOf } from 'reeve'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'
import { answerOrCode, serveAgents } from './served-agents.ts'

type Report = JsonObject & { readonly text: string; readonly report: JsonObject }

/** The reports in the log of an agent. */
async function reportsOf(reeve: Embedded, pid: string): Promise<readonly Report[]> {
  const buffered = await payloads(reeve, pid, 'notice_buffered')
  return buffered
    .filter(({ cause }) => cause === 'child')
    .map(({ parts }) => (parts as readonly Report[])[0] as Report)
}

const SAYS_DONE = { parts: [{ text: 'All of it is done.' }] }

/** A parent that spawns one child in its first answer, and then plays the rest. */
function delegating(input: JsonObject, rest: readonly JsonObject[]) {
  return { answers: [{ parts: [{ tool: 'agent_spawn', input }] }, ...rest] }
}

test('an agent delegates a part of its goal, and the report of the child begins its next turn', async () => {
  const { reeve, start } = await scriptedAgents()
  const { spec } = await reeve.show({ pid: await start([SAYS_DONE]) })
  const model = String(spec['model'])
  const parent = await start(
    delegating({ goal: 'write the tests', context: 'they are in test/', model, role: 'tester' }, [
      { parts: [{ text: 'I wait for it.' }] },
      { parts: [{ text: 'The tests are written.' }] },
    ]),
    { goal: 'finish the feature' },
  )
  await reeve.waitAgent({ pid: parent, turn: 2 })
  const [report, ...more] = await reportsOf(reeve, parent)
  expect(more).toEqual([])
  expect(report?.report).toMatchObject({
    role: 'tester',
    model,
    goal: 'write the tests',
    context: 'they are in test/',
    state: 'finished',
    reason: 'finished',
    turn: 1,
    calls: 1,
    isEnd: false,
    isWaiting: false,
  })
  expect(report?.text).toContain('Result:\nAll of it is done.')
  const [, begun] = await payloads(reeve, parent, 'turn_begun')
  expect(begun).toMatchObject({ cause: 'child' })
  const { agents } = await reeve.agents({ parent })
  expect(agents).toMatchObject([{ parent, phase: 'idle', session: `agent:${parent}` }])
})

async function family(model: HeldModel, spec: JsonObject = {}) {
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  const given = { agent: 'lead', model: 'my/model', ...spec }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec: given })
  const { pid: parent } = record
  const own = reeve.as(`process:${parent}`)
  const spawn = (more: Partial<InputOf<'spawnAgent'>> = {}) =>
    own.spawnAgent({ parent, goal: 'a part', ...more })
  return { reeve, parent, own, spawn, workspace }
}

test('a child inherits model, role and workspace, and has taken its goal when the answer comes', async () => {
  const model = new HeldModel()
  const { parent, spawn, workspace } = await family(model)
  const { type, record } = await spawn({ idempotencyKey: 'one' })
  expect(type).toBe('started')
  expect(record).toMatchObject({
    parent,
    owner: { session: `agent:${parent}` },
    spec: { agent: 'lead', model: 'my/model', goal: 'a part' },
    cwd: workspace,
    agent: { turn: { number: 1, asker: `process:${parent}` } },
  })
  expect(record.firstStarted).not.toBeNull()
  expect(await spawn({ idempotencyKey: 'one' })).toMatchObject({
    type: 'existing',
    record: { pid: record.pid },
  })
})

test('a request that cannot be met changes nothing: model, tools, folder, preset, parent', async () => {
  const model = new HeldModel()
  const { reeve, parent, spawn } = await family(model, { tools: ['read_file'] })
  const before = await reeve.show({ pid: parent })
  expect(await answerOrCode(spawn({ model: 'scripted/none.json' }))).toBe('invalid_request')
  expect(await answerOrCode(spawn({ tools: ['run_command'] }))).toBe('denied')
  expect(await answerOrCode(spawn({ cwd: '/' }))).toBe('invalid_request')
  expect(await answerOrCode(spawn({ preset: 'everything' }))).toBe('invalid_rule')
  expect(await answerOrCode(spawn({ parent: 'p_000000000000' }))).toBe('unknown_pid')
  expect(await reeve.show({ pid: parent })).toEqual(before)
})

test('agents are two levels deep by default, and an agent has as many live children as it may', async () => {
  const model = new HeldModel()
  const { reeve, spawn } = await family(model, { delegation: { children: 2 } })
  const first = (await spawn()).record.pid
  await spawn()
  expect(await answerOrCode(spawn())).toBe('limit_exceeded')
  const below = (pid: string) => reeve.as(`process:${pid}`).spawnAgent({ parent: pid, goal: 'deeper' })
  const second = (await below(first)).record.pid
  expect(await answerOrCode(below(second))).toBe('depth_exceeded')
  await reeve.shutDownAgent({ pid: first })
  await reeve.wait({ pid: first })
  expect(await answerOrCode(spawn())).toMatchObject({ type: 'started' })
})

test('a turn that the parent asked for is reported once, whatever its result; others are silent', async () => {
  const model = new HeldModel()
  const { reeve, parent, own, spawn } = await family(model)
  const { record } = await spawn()
  const { pid } = record
  const goal = await model.next()
  goal.answer('one')
  await reeve.waitAgent({ pid, turn: 1 })
  // The report begins a turn of the idle parent.
  const told = await model.next()
  expect(told.prompt).toContain('turn 1 finished')
  // A person asks: no report.
  await reeve.runAgent({ pid, text: 'by a person' })
  ;(await model.next()).answer('two')
  await reeve.waitAgent({ pid, turn: 2 })
  // The parent cancels a turn that it asked for: the report says so.
  await own.runAgent({ pid, text: 'again' })
  const cut = await model.next()
  cut.begin()
  await expect.poll(async () => (await payloads(reeve, pid, 'output_begun')).length).toBe(3)
  await own.cancelTurn({ pid })
  // A person begins a turn, and the parent joins it.
  await reeve.runAgent({ pid, text: 'by a person' })
  const held = await model.next()
  await own.runAgent({ pid, text: 'and this', mode: 'steer' })
  held.answer('four')
  ;(await model.next()).answer('five')
  await reeve.waitAgent({ pid, turn: 4 })
  await reeve.shutDownAgent({ pid })
  await reeve.wait({ pid })
  const reports = await reportsOf(reeve, parent)
  expect(reports.map(({ report }) => [report['turn'], report['state'], report['isEnd']])).toEqual([
    [1, 'finished', false],
    [3, 'cancelled', false],
    [4, 'finished', false],
    [null, 'finished', true],
  ])
})

test('a turn that the parent resumed is reported, and a child whose own agents work is waiting; their reports are its own', async () => {
  const model = new HeldModel()
  const { reeve, parent, own, spawn } = await family(model)
  const { pid } = (await spawn()).record
  const spawned = await reeve.as(`process:${pid}`).spawnAgent({ parent: pid, goal: 'a part of the part' })
  const grandchild = spawned.record.pid
  const [one, two] = [await model.next(), await model.next()]
  const [goal, other] = one.prompt.includes('a part of the part') ? [two, one] : [one, two]
  goal.answer('one')
  await reeve.waitAgent({ pid, turn: 1 })
  const [first] = await reportsOf(reeve, parent)
  expect(first?.report).toMatchObject({ state: 'waiting', reason: 'finished', isWaiting: true })
  expect(first?.text).toContain(
    'turn 1 is over. It waits: commands or agents that it started are still at work.',
  )
  expect(first?.text).toContain('Result:\none')
  await reeve.runAgent({ pid, text: 'by a person' })
  const calls = [await model.next(), await model.next()]
  const child = calls.find(({ prompt }) => prompt.includes('by a person'))
  child?.begin()
  await expect.poll(async () => (await payloads(reeve, pid, 'output_begun')).length).toBe(2)
  await reeve.pauseAgent({ pid })
  await own.resumeAgent({ pid })
  const resumed = await model.next()
  resumed.answer('two')
  await reeve.waitAgent({ pid, turn: 2 })
  other.answer('done')
  // The child began this turn itself, so it is silent.
  const told = await model.next()
  expect(told.prompt).toContain('turn 1 finished')
  told.answer('three')
  await reeve.waitAgent({ pid, turn: 3 })
  // Its own agent is idle now.
  await own.runAgent({ pid, text: 'again' })
  ;(await model.next()).answer('four')
  await reeve.waitAgent({ pid, turn: 4 })
  const states = (reports: readonly Report[]) =>
    reports.map(({ report }) => [report['pid'], report['turn'], report['state']])
  expect(states(await reportsOf(reeve, parent))).toEqual([
    [pid, 1, 'waiting'],
    [pid, 2, 'waiting'],
    [pid, 4, 'finished'],
  ])
  expect(states(await reportsOf(reeve, pid))).toEqual([[grandchild, 1, 'finished']])
})

test('a child for one turn reports its turn and its end at once', async () => {
  const model = new HeldModel()
  const { reeve, parent, spawn } = await family(model)
  const { pid } = (await spawn({ once: true })).record
  ;(await model.next()).answer('all')
  await reeve.wait({ pid })
  expect(await reportsOf(reeve, parent)).toMatchObject([
    { report: { pid, turn: 1, state: 'finished', isEnd: true, outcome: 'completed' } },
  ])
})

test('a long result is in the report as its beginning, and whole behind a reference', async () => {
  const model = new HeldModel()
  const { reeve, parent, spawn } = await family(model)
  const { pid } = (await spawn()).record
  const long = 'word '.repeat(10_000)
  ;(await model.next()).answer(long)
  await reeve.waitAgent({ pid, turn: 1 })
  const [buffered] = await payloads(reeve, parent, 'notice_buffered')
  expect(buffered?.['parts']).toMatchObject([{ type: 'report' }, { type: 'blob' }])
  const told = await model.next()
  expect(told.prompt).toContain('agent_read')
  expect(told.prompt.length).toBeLessThan(40_000)
  told.call('agent_read', { pid, turn: 1, offset: 30_000 })
  expect((await model.next()).prompt).toContain('(characters 30000 to 42000 of')
})

test('secrets in the goal and the context of a child are masked in its inputs and in its report', async () => {
  const secret = `ghp_${'q7Rt2Wx9'.repeat(4)}Zk4p`
  const model = new HeldModel()
  const { spawn } = await family(model)
  await spawn({ goal: `sign with ${secret}`, context: `or try ${secret}` })
  const goal = await model.next()
  expect(goal.prompt).toContain('or try')
  goal.answer('signed')
  const told = await model.next()
  expect(told.prompt).toContain('sign with')
  expect(goal.prompt + told.prompt).not.toContain(secret)
})

test('cancelling the turn of a parent spares its children; its end stops them', async () => {
  const model = new HeldModel()
  const { reeve, parent, spawn } = await family(model)
  await reeve.runAgent({ pid: parent, text: 'go' })
  const call = await model.next()
  const { pid } = (await spawn()).record
  call.begin()
  await reeve.cancelTurn({ pid: parent })
  expect((await reeve.show({ pid })).outcome).toBeNull()
  await reeve.shutDownAgent({ pid: parent })
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { status: 'cancelled' } } })
})

test('a session that does not own the parent cannot spawn below it, nor see the child', async () => {
  const served = await serveAgents()
  const { reeve } = served
  for (const session of ['own', 'other']) await reeve.openSession({ session })
  const parent = await served.running({}, { owner: { session: 'own' } })
  const own = await served.client({ role: 'agent', session: 'own' })
  const other = await served.client({ role: 'agent', session: 'other' })
  expect(await answerOrCode(other.spawnAgent({ parent, goal: 'x' }))).toBe('denied')
  const { record } = await own.spawnAgent({ parent, goal: 'x', model: 'scripted/demo' })
  expect((await own.agents({ parent })).agents).toHaveLength(1)
  expect(await answerOrCode(other.inspectAgent({ pid: record.pid }))).toBe('denied')
})

test('an agent sees itself, its agents and what it was granted, and nothing else', async () => {
  const model = new HeldModel()
  const { reeve, parent, own, spawn } = await family(model)
  const child = (await spawn()).record.pid
  ;(await model.next()).answer('done')
  const { record: other } = await reeve.spawn({ kind: 'agent', spec: { agent: 'other', model: 'my/model' } })
  const seen = (await own.agents({})).agents.map(({ pid }) => pid)
  expect(seen.toSorted()).toEqual([parent, child].toSorted())
  for (const look of [own.inspectAgent, own.agentLog, own.show])
    expect(await answerOrCode(look({ pid: other.pid }))).toBe('denied')
  const told = await model.next()
  told.call('agent_list')
  const before = await model.next()
  expect(before.prompt).toContain(`${parent} is you`)
  expect(before.prompt).toContain(`${child} idle`)
  expect(before.prompt).not.toContain(other.pid)
  await reeve.grant({ session: `agent:${parent}`, pids: [other.pid] })
  before.call('agent_list')
  const after = await model.next()
  expect(after.prompt).toContain(`${other.pid} idle, shown to you`)
  // A grant shows: it gives no right to act.
  after.call('agent_send', { pid: other.pid, text: 'x' })
  expect((await model.next()).prompt).toMatch(/may not/)
  expect((await reeve.show({ pid: other.pid })).agent?.turns).toBe(0)
})

test('a child that no program drives in time is withdrawn, and its parent is told nothing', {
  timeout: 60_000,
}, async () => {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model }, concurrency: 1 })
  const spec = { agent: 'lead', model: 'my/model' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid: parent } = record
  // The turn of another agent takes the only slot.
  const busy = { ...spec, goal: 'work' }
  const { record: other } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec: busy })
  await model.next()
  const spawned = reeve.as(`process:${parent}`).spawnAgent({ parent, goal: 'a part', name: 'late' })
  await expect(spawned).rejects.toMatchObject({ code: 'not_available' })
  expect((await reeve.agents({ parent })).agents).toEqual([])
  expect(await reportsOf(reeve, parent)).toEqual([])
  expect((await reeve.inspectAgent({ pid: parent })).turns).toBe(0)
  await reeve.cancelTurn({ pid: other.pid })
})
