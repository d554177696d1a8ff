import type { Embedded } from 'reeve'
import { expect, test } from 'vitest'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'
import { answerOrCode } from './served-agents.ts'

async function agents(model: HeldModel) {
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  const start = async (goal: string, more: object = {}) => {
    const spec = { agent: 'coder', model: 'my/model', goal, ...more }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
    return record.pid
  }
  return { reeve, start, workspace }
}

async function end(reeve: Embedded, pid: string): Promise<void> {
  await reeve.shutDownAgent({ pid })
  await reeve.wait({ pid })
}

test('a restored agent reads the whole session, and goes on behind it', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const pid = await start('the first goal')
  const first = await model.next()
  first.answer('the first answer')
  await reeve.waitAgent({ pid, turn: 1 })
  await end(reeve, pid)
  const { type, record } = await reeve.restoreAgent({ pid, goal: 'the second goal' })
  expect(type).toBe('started')
  expect(record).toMatchObject({ restartOf: pid, agent: { turns: 2, turn: { number: 2 } } })
  const second = await model.next()
  const [begun, said, asked] = ['the first goal', 'the first answer', 'the second goal'].map((text) =>
    second.prompt.indexOf(text),
  )
  expect([begun, said, asked]).toEqual([begun, said, asked].toSorted((a = 0, b = 0) => a - b))
  expect(begun).toBeGreaterThan(0)
  // The bytes of the first call are the beginning of this one, so caches of providers hold.
  expect(second.prompt.startsWith(first.prompt.slice(0, -1))).toBe(true)
  second.answer('the second answer')
  await reeve.waitAgent({ pid: record.pid, turn: 2 })
  // Nothing of the earlier session is in the log of the new agent.
  const { events } = await reeve.events({ pid: record.pid, limit: 1_000 })
  expect(JSON.stringify(events)).not.toContain('the first')
  await end(reeve, record.pid)
  const third = await reeve.restoreAgent({ pid: record.pid, goal: 'the third goal' })
  expect(third.record.agent?.earlier?.map((log) => log.pid)).toEqual([pid, record.pid])
  const last = await model.next()
  expect(last.prompt.startsWith(second.prompt.slice(0, -1))).toBe(true)
  last.answer('the third answer')
  await reeve.waitAgent({ pid: third.record.pid, turn: 3 })
})

test('a session goes on behind its summary, and one that was summarised later keeps what the summary kept', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const pid = await start('the first goal')
  ;(await model.next()).answer('the first answer')
  await reeve.waitAgent({ pid, turn: 1 })
  await end(reeve, pid)
  const { record: restored } = await reeve.restoreAgent({ pid, goal: 'the second goal' })
  ;(await model.next()).answer('the second answer')
  await reeve.waitAgent({ pid: restored.pid, turn: 2 })
  // What is kept word for word is in the log of the ended agent.
  await reeve.compactAgent({ pid: restored.pid })
  ;(await model.next()).answer('the summary')
  await reeve.waitAgent({ pid: restored.pid, turn: 3 })
  await end(reeve, restored.pid)
  const { record: again } = await reeve.restoreAgent({ pid: restored.pid, goal: 'the third goal' })
  const call = await model.next()
  for (const text of ['the summary', 'the first answer', 'the second answer', 'the third goal'])
    expect(call.prompt).toContain(text)
  call.answer('the third answer')
  await reeve.waitAgent({ pid: again.pid, turn: 4 })
})

test('a restored agent without a goal waits for an input, and the same request restores once', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const pid = await start('the first goal')
  ;(await model.next()).answer('the first answer')
  await reeve.waitAgent({ pid, turn: 1 })
  await end(reeve, pid)
  const { record } = await reeve.restoreAgent({ pid, idempotencyKey: 'once' })
  expect(record.agent).toMatchObject({ turn: null, turns: 1 })
  const shown = await reeve.inspectAgent({ pid: record.pid })
  expect(shown.tools?.map(({ name }) => name)).toContain('read_file')
  expect((await reeve.agentLog({ pid: record.pid })).items).toMatchObject([{ type: 'session_continued' }])
  expect((await reeve.exportAgent({ pid: record.pid, format: 'markdown' })).text).toContain(pid)
  const again = await reeve.restoreAgent({ pid, idempotencyKey: 'once' })
  expect(again).toMatchObject({ type: 'existing', record: { pid: record.pid } })
  await reeve.runAgent({ pid: record.pid, text: 'go on' })
  const call = await model.next()
  expect(call.prompt).toContain('the first answer')
  call.answer('gone on')
  await reeve.waitAgent({ pid: record.pid, turn: 2 })
  expect(await payloads(reeve, record.pid, 'session_continued')).toMatchObject([{ turns: 1 }])
})

test('a turn that was cut by the end is closed before the session goes on', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const pid = await start('the first goal')
  ;(await model.next()).call('list_files', {})
  const cut = await model.next()
  cut.begin()
  await expect.poll(async () => (await payloads(reeve, pid, 'output_begun')).length).toBe(2)
  await end(reeve, pid)
  const { record } = await reeve.restoreAgent({ pid, goal: 'go on' })
  const call = await model.next()
  expect(call.prompt).toContain('list_files')
  call.answer('done')
  expect(await reeve.waitAgent({ pid: record.pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
})

test('each reason why an agent is not restored has its own error', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const live = await start('a goal')
  const call = await model.next()
  await reeve.openSession({ session: 'other' })
  const other = reeve.as('session:other')
  expect(await answerOrCode(reeve.restoreAgent({ pid: 'p_000000000000' }))).toBe('unknown_pid')
  expect(await answerOrCode(reeve.restoreAgent({ pid: live }))).toBe('not_restorable')
  call.answer('done')
  await reeve.waitAgent({ pid: live, turn: 1 })
  await end(reeve, live)
  expect(await answerOrCode(other.restoreAgent({ pid: live }))).toBe('denied')
  const { record: foreign } = await reeve.spawn({ kind: 'agent', spec: { agent: 'foreign' } })
  await reeve.kill({ pid: foreign.pid })
  expect(await answerOrCode(reeve.restoreAgent({ pid: foreign.pid }))).toBe('not_restorable')
  const placed = { agent: 'coder', model: 'my/model', goal: 'a goal' }
  const { record: away } = await reeve.spawn({ kind: 'agent', spec: placed, placement: 'host:elsewhere' })
  await reeve.kill({ pid: away.pid })
  expect(await answerOrCode(reeve.restoreAgent({ pid: away.pid }))).toBe('owned_elsewhere')
  await reeve.prune({ keep: 0 })
  expect(await answerOrCode(reeve.restoreAgent({ pid: live }))).toBe('pruned_pid')
})

test('the logs of a restored session are kept as long as its agent lives', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const first = await start('the first goal')
  ;(await model.next()).answer('the first answer')
  await reeve.waitAgent({ pid: first, turn: 1 })
  await end(reeve, first)
  const second = (await reeve.restoreAgent({ pid: first })).record.pid
  await end(reeve, second)
  const third = (await reeve.restoreAgent({ pid: second })).record.pid
  await reeve.prune({ keep: 0 })
  await reeve.runAgent({ pid: third, text: 'go on' })
  const call = await model.next()
  expect(call.prompt).toContain('the first answer')
  call.answer('done')
  await reeve.waitAgent({ pid: third, turn: 2 })
  await end(reeve, third)
  await reeve.prune({ keep: 0 })
  expect(await answerOrCode(reeve.show({ pid: first }))).toBe('pruned_pid')
})

test('a parent restores its child, and gets its reports; below an ended parent only a person restores one', async () => {
  const model = new HeldModel()
  const { reeve, workspace } = await agents(model)
  const spec = { agent: 'lead', model: 'my/model', tools: ['agent_stop', 'agent_restore'] }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid: parent } = record
  const own = reeve.as(`process:${parent}`)
  const { record: child } = await own.spawnAgent({ parent, goal: 'a part' })
  ;(await model.next()).answer('part one')
  ;(await model.next()).call('agent_stop', { pid: child.pid, end: true })
  await reeve.wait({ pid: child.pid })
  ;(await model.next()).call('agent_restore', { pid: child.pid, text: 'and the rest' })
  const [one, two] = [await model.next(), await model.next()]
  const [restored, lead] = one.prompt.includes('agent_restore') ? [two, one] : [one, two]
  expect(restored.prompt).toContain('part one')
  lead.answer('I wait')
  restored.answer('part two')
  const told = await model.next()
  expect(told.prompt).toContain('part two')
  told.answer('all done')
  const [again] = (await reeve.agents({ parent })).agents
  await end(reeve, parent)
  await reeve.wait({ pid: again?.pid ?? '' })
  await reeve.openSession({ session: 'mine' })
  const alone = await reeve.restoreAgent({ pid: again?.pid ?? '' })
  expect(alone.record).toMatchObject({ parent: null, owner: {}, restartOf: again?.pid })
})
