import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HeldModel } from './held-model.ts'
import { PlayedSession, rewindBench } from './rewind-bench.ts'
import { eventTypes, payloads, scriptedAgents } from './scripted-agent.ts'
import { answerOrCode } from './served-agents.ts'

async function agents(model: HeldModel) {
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  const start = async (goal: string, more: object = {}) => {
    const spec = { agent: 'coder', model: 'my/model', goal, ...more }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
    return record.pid
  }
  /** A session of these turns, each with an answer that names it. */
  const session = async (goals: readonly string[], more: object = {}) => {
    const [first = '', ...others] = goals
    const pid = await start(first, more)
    ;(await model.next()).answer(`answer to ${first}`)
    await reeve.waitAgent({ pid, turn: 1 })
    for (const [index, text] of others.entries()) {
      await reeve.runAgent({ pid, text })
      ;(await model.next()).answer(`answer to ${text}`)
      await reeve.waitAgent({ pid, turn: index + 2 })
    }
    return pid
  }
  const end = async (pid: string) => {
    await reeve.shutDownAgent({ pid })
    await reeve.wait({ pid })
  }
  return { reeve, workspace, start, session, end }
}

test('a fork knows the session up to its turn, and neither sees what the other does later', async () => {
  const model = new HeldModel()
  const { reeve, session, end } = await agents(model)
  const pid = await session(['first', 'second', 'third'])
  const before = await eventTypes(reeve, pid)
  const { type, record } = await reeve.forkAgent({ pid, at: 2, mode: 'copy', goal: 'another way' })
  expect(type).toBe('started')
  expect(record).toMatchObject({
    parent: null,
    restartOf: null,
    agent: { forkedFrom: { pid, turn: 2, mode: 'copy' }, turns: 3, turn: { number: 3 } },
  })
  const call = await model.next()
  const places = ['answer to first', 'answer to second', 'another way'].map((text) =>
    call.prompt.indexOf(text),
  )
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
  expect(call.prompt).not.toContain('third')
  call.answer('done another way')
  await reeve.waitAgent({ pid: record.pid, turn: 3 })
  const isOfSession = (type: string) => type !== 'agent_idled'
  expect((await eventTypes(reeve, pid)).filter(isOfSession)).toEqual(before.filter(isOfSession))
  // Nothing of the session is in the log of the fork, and both go on by themselves.
  const { events } = await reeve.events({ pid: record.pid, limit: 1_000 })
  expect(JSON.stringify(events)).not.toContain('answer to')
  await reeve.runAgent({ pid, text: 'fourth' })
  const fourth = await model.next()
  expect(fourth.prompt).toContain('answer to third')
  expect(fourth.prompt).not.toContain('another way')
  fourth.answer('answer to fourth')
  await reeve.waitAgent({ pid, turn: 4 })
  await reeve.runAgent({ pid: record.pid, text: 'and more' })
  const more = await model.next()
  expect(more.prompt).toContain('done another way')
  expect(more.prompt).not.toContain('fourth')
  more.answer('done')
  await reeve.waitAgent({ pid: record.pid, turn: 4 })
  await end(pid)
  await end(record.pid)
})

test('a fork in an open turn branches behind the last answer whose calls have results', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  const pid = await start('look around')
  ;(await model.next()).call('list_files', { path: '.' })
  const open = await model.next()
  open.begin()
  await expect.poll(async () => (await payloads(reeve, pid, 'output_begun')).length).toBe(2)
  const { record } = await reeve.forkAgent({ pid, goal: 'look elsewhere' })
  const forked = await model.next()
  expect(forked.prompt).toContain('look around')
  expect(forked.prompt).toContain('list_files')
  expect(forked.prompt).toContain('look elsewhere')
  expect(await answerOrCode(reeve.forkAgent({ pid, at: 1, goal: 'again' }))).toBe('already_running')
  forked.answer('looked')
  expect(await reeve.waitAgent({ pid: record.pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  open.answer('seen')
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'finished' } })
})

test('a fork of a session that was summarised since reads what the summary replaced', async () => {
  const model = new HeldModel()
  const { reeve, session } = await agents(model)
  const pid = await session(['first', 'second'])
  await reeve.compactAgent({ pid })
  ;(await model.next()).answer('the summary')
  await reeve.waitAgent({ pid, turn: 3 })
  const { record: early } = await reeve.forkAgent({ pid, at: 1, goal: 'from the first' })
  const [begun] = await payloads(reeve, early.pid, 'session_continued')
  expect(begun).toMatchObject({ turns: 1, segment: { number: 1 } })
  const first = await model.next()
  expect(first.prompt).toContain('answer to first')
  expect(first.prompt).not.toContain('the summary')
  expect(first.prompt).not.toContain('answer to second')
  first.answer('ok')
  await reeve.waitAgent({ pid: early.pid, turn: 2 })
  const { record: late } = await reeve.forkAgent({ pid, goal: 'from the summary' })
  const last = await model.next()
  expect(last.prompt).toContain('the summary')
  last.answer('ok')
  await reeve.waitAgent({ pid: late.pid, turn: 4 })
})

test('a restored agent and a fork can be forked, also at a turn of an earlier log', async () => {
  const model = new HeldModel()
  const { reeve, session, end } = await agents(model)
  const pid = await session(['first', 'second'])
  await end(pid)
  const { record: restored } = await reeve.restoreAgent({ pid, goal: 'third' })
  ;(await model.next()).answer('answer to third')
  await reeve.waitAgent({ pid: restored.pid, turn: 3 })
  const { record: fork } = await reeve.forkAgent({ pid: restored.pid, at: 1, goal: 'fork of the first' })
  expect(fork.agent?.earlier?.map((log) => log.pid)).toEqual([pid])
  const call = await model.next()
  expect(call.prompt).toContain('answer to first')
  expect(call.prompt).not.toContain('second')
  call.answer('answer of the fork')
  await reeve.waitAgent({ pid: fork.pid, turn: 2 })
  const { record: again } = await reeve.forkAgent({ pid: fork.pid, goal: 'fork of the fork' })
  expect(again.agent?.earlier?.map((log) => log.pid)).toEqual([pid, fork.pid])
  const deeper = await model.next()
  for (const text of ['answer to first', 'answer of the fork', 'fork of the fork'])
    expect(deeper.prompt).toContain(text)
  expect(deeper.prompt).not.toContain('third')
  deeper.answer('ok')
  await reeve.waitAgent({ pid: again.pid, turn: 3 })
  const { record: ofEnded } = await reeve.forkAgent({ pid, at: 2, goal: 'of the ended one' })
  const ended = await model.next()
  expect(ended.prompt).toContain('answer to second')
  ended.answer('ok')
  await reeve.waitAgent({ pid: ofEnded.pid, turn: 3 })
})

test('forks that cannot be made are refused, each with its own code', async () => {
  const model = new HeldModel()
  const { reeve, session, start } = await agents(model)
  const pid = await session(['first'])
  const goal = 'another way'
  expect(await answerOrCode(reeve.forkAgent({ pid, at: 7, goal }))).toBe('not_found')
  expect(await answerOrCode(reeve.forkAgent({ pid: 'p_000000000000', goal }))).toBe('unknown_pid')
  await reeve.openSession({ session: 'other' })
  expect(await answerOrCode(reeve.as('session:other').forkAgent({ pid, goal }))).toBe('denied')
  expect(await answerOrCode(reeve.forkAgent({ pid, goal, preset: 'full' }))).toBe('invalid_request')
  expect(await answerOrCode(reeve.forkAgent({ pid, goal, mode: 'worker', paths: ['a'] }))).toBe(
    'invalid_request',
  )
  const { record: foreign } = await reeve.spawn({ kind: 'agent', spec: { agent: 'foreign' } })
  expect(await answerOrCode(reeve.forkAgent({ pid: foreign.pid, goal }))).toBe('invalid_request')
  const { record: idle } = await reeve.spawn({ kind: 'agent', spec: { agent: 'idle', model: 'my/model' } })
  expect(await answerOrCode(reeve.forkAgent({ pid: idle.pid, goal }))).toBe('invalid_request')
  const rolled = await start('never answered')
  await model.next()
  await reeve.cancelTurn({ pid: rolled })
  await reeve.waitAgent({ pid: rolled, turn: 1 })
  expect(await answerOrCode(reeve.forkAgent({ pid: rolled, at: 1, goal }))).toBe('invalid_request')
  expect(await answerOrCode(reeve.forkAgent({ pid: rolled, goal }))).toBe('invalid_request')
  await reeve.kill({ pid: foreign.pid })
})

test('the same key is the same fork, and another goal under it is refused', async () => {
  const model = new HeldModel()
  const { reeve, session } = await agents(model)
  const pid = await session(['first'])
  const asked = { pid, goal: 'another way', idempotencyKey: 'once' }
  const { record } = await reeve.forkAgent(asked)
  expect(await reeve.forkAgent(asked)).toMatchObject({ type: 'existing', record: { pid: record.pid } })
  expect(await answerOrCode(reeve.forkAgent({ ...asked, goal: 'other' }))).toBe('conflict')
  ;(await model.next()).answer('ok')
  await reeve.waitAgent({ pid: record.pid, turn: 2 })
})

test('a fork reads only, unless its mode is copy, and a worker ends with its first turn', async () => {
  const model = new HeldModel()
  const { reeve, session } = await agents(model)
  const pid = await session(['first'])
  const write = { path: 'made.txt', content: 'made' }
  const { record: worker } = await reeve.forkAgent({ pid, goal: 'look', mode: 'worker' })
  ;(await model.next()).call('write_file', write)
  const denied = await model.next()
  expect(denied.prompt).toContain('may not do this')
  denied.answer('I may not')
  const waited = await reeve.wait({ pid: worker.pid })
  expect(waited).toMatchObject({ record: { outcome: { status: 'completed', result: 'I may not' } } })
  const { record: copy } = await reeve.forkAgent({ pid, goal: 'write', mode: 'copy' })
  ;(await model.next()).call('write_file', write)
  const written = await model.next()
  expect(written.prompt).not.toContain('may not do this')
  written.answer('written')
  await reeve.waitAgent({ pid: copy.pid, turn: 2 })
})

test('the log that a fork reads is kept as long as the fork lives', async () => {
  const model = new HeldModel()
  const { reeve, session, end } = await agents(model)
  const pid = await session(['first'])
  const { record } = await reeve.forkAgent({ pid, goal: 'another way' })
  ;(await model.next()).answer('ok')
  await reeve.waitAgent({ pid: record.pid, turn: 2 })
  await end(pid)
  await reeve.prune({ keep: 0 })
  await reeve.runAgent({ pid: record.pid, text: 'go on' })
  const call = await model.next()
  expect(call.prompt).toContain('answer to first')
  call.answer('ok')
  await reeve.waitAgent({ pid: record.pid, turn: 3 })
  await end(record.pid)
  await reeve.prune({ keep: 0 })
  expect(await answerOrCode(reeve.show({ pid }))).toBe('pruned_pid')
})

test('an agent forks itself: the fork is its child, reports to it, and has a part of its allowance', async () => {
  const model = new HeldModel()
  const { reeve, workspace } = await agents(model)
  const spec = { agent: 'coder', model: 'my/model', goal: 'try two ways', tools: ['agent_fork'] }
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec,
    allowance: { tokensIn: 1_000_000 },
  })
  const { pid } = record
  ;(await model.next()).call('agent_fork', { goal: 'the other way', mode: 'worker' })
  const [one, two] = [await model.next(), await model.next()]
  const [forked, own] = one.prompt.includes('You are a fork of it') ? [one, two] : [two, one]
  // The call that made it has no result there, so the fork knows nothing of it.
  expect(forked.prompt).toContain('try two ways')
  expect(forked.prompt).not.toContain('agent_fork')
  const [child] = (await reeve.agents({ parent: pid })).agents
  const shown = await reeve.show({ pid: child?.pid ?? '' })
  expect(shown.parent).toBe(pid)
  // Half of what its parent had left after its first call.
  expect(shown.limits.allowance?.tokensIn).toBe(499_995)
  own.answer('I wait')
  forked.answer('the other way is shorter')
  const told = await model.next()
  expect(told.prompt).toContain('the other way is shorter')
  told.answer('done')
  await reeve.waitAgent({ pid })
})

test('a fork asks again for what a person has allowed the agent that it branches from', async () => {
  const model = new HeldModel()
  const { reeve, start } = await agents(model)
  await reeve.addRule({ rule: { effect: 'ask', resource: 'fs:**', rights: ['write'] } })
  const write = { path: 'made.txt', content: 'made' }
  const pending = async () => (await reeve.approvals({ state: 'pending' })).approvals
  const asked = async () => {
    await expect.poll(async () => (await pending()).length).toBe(1)
    return (await pending())[0]?.id ?? ''
  }
  const pid = await start('write')
  ;(await model.next()).call('write_file', write)
  await reeve.approve({ id: await asked(), grant: 'session' })
  // The same call again: the answer for the session counts.
  ;(await model.next()).call('write_file', write)
  ;(await model.next()).answer('written')
  await reeve.waitAgent({ pid, turn: 1 })
  for (const by of [reeve.as(`process:${pid}`), reeve]) {
    const { record } = await by.forkAgent({ pid, at: 1, mode: 'copy', goal: 'write again' })
    ;(await model.next()).call('write_file', write)
    await reeve.deny({ id: await asked() })
    const denied = await model.next()
    expect(denied.prompt).toContain('denied')
    denied.answer('not written')
    await reeve.waitAgent({ pid: record.pid, turn: 2 })
    if (by !== reeve) {
      const told = await model.next()
      told.answer('heard')
      await reeve.waitAgent({ pid })
    }
  }
})

test('a fork has the ceilings of the agent that it branches from, and no more tools', async () => {
  const model = new HeldModel()
  const { reeve, workspace } = await agents(model)
  const spec = { agent: 'coder', model: 'my/model', goal: 'look', tools: ['read_file', 'write_file'] }
  const ceiling = { rules: [{ effect: 'allow', resource: 'model:**' }] }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec, ceiling })
  ;(await model.next()).answer('looked')
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
  const asked = { pid: record.pid, goal: 'more', mode: 'copy' } as const
  expect(await answerOrCode(reeve.forkAgent({ ...asked, tools: ['run_command'] }))).toBe('denied')
  const { record: fork } = await reeve.forkAgent(asked)
  expect(fork.ceilings).toMatchObject([{ givenTo: fork.pid, rules: [{ resource: 'model:**' }] }])
  ;(await model.next()).call('write_file', { path: 'made.txt', content: 'made' })
  const denied = await model.next()
  expect(denied.prompt).toContain('may not do this')
  denied.answer('not written')
  await reeve.waitAgent({ pid: fork.pid, turn: 2 })
})

test('two forks try two ways, and their parent keeps the objects of the better one', async () => {
  const model = new HeldModel()
  const { reeve, session } = await agents(model)
  const pid = await session(['first'])
  const own = reeve.as(`process:${pid}`)
  await own.putObject({ pid, name: 'plan', type: 'plan', mutable: true, text: 'one step' })
  await own.putObject({ pid, name: 'notes/a', type: 'evidence', text: 'a' })
  const forked = async (mode: 'restricted' | 'copy' | 'speculative', more: object = {}) => {
    const { record } = await own.forkAgent({ pid, mode, goal: `as ${mode}`, ...more })
    ;(await model.next()).answer('done')
    await reeve.waitAgent({ pid: record.pid })
    const told = await model.next()
    told.answer('heard')
    await reeve.waitAgent({ pid })
    return { pid: record.pid, as: reeve.as(`process:${record.pid}`) }
  }
  const reads = await forked('restricted', { roots: ['notes'] })
  const copy = await forked('copy')
  const tries = await forked('speculative')
  await own.putObject({ pid, name: 'plan', expect: 1, text: 'one step, later' })
  // Each sees what its parent had, and neither sees what the others write.
  expect(await reads.as.object({ pid: reads.pid, name: 'notes/a' })).toMatchObject({ text: 'a' })
  expect(await answerOrCode(reads.as.object({ pid: reads.pid, name: 'plan' }))).toBe('not_found')
  expect(await copy.as.object({ pid: copy.pid, name: 'plan' })).toMatchObject({ text: 'one step' })
  await copy.as.putObject({ pid: copy.pid, name: 'plan', expect: 1, text: 'two steps' })
  await copy.as.putObject({ pid: copy.pid, name: 'found', type: 'evidence', text: 'by the copy' })
  await tries.as.putObject({ pid: tries.pid, name: 'tried', type: 'evidence', text: 'by the other' })
  expect(await own.object({ pid, name: 'plan' })).toMatchObject({ text: 'one step, later' })
  expect(await answerOrCode(tries.as.object({ pid: tries.pid, name: 'found' }))).toBe('not_found')
  const ended = async (one: { readonly pid: string }) => {
    await own.shutDownAgent({ pid: one.pid })
    await reeve.wait({ pid: one.pid })
  }
  await ended(tries)
  await ended(copy)
  const merged = await own.mergeObjects({ pid, from: copy.pid, policy: 'all_new' })
  expect(merged).toMatchObject({
    merged: [{ name: 'found' }],
    conflicts: [{ name: 'plan', reason: 'changed' }],
  })
  expect(await own.object({ pid, name: 'found' })).toMatchObject({ text: 'by the copy' })
  expect(await answerOrCode(own.object({ pid, name: 'tried' }))).toBe('not_found')
})

test('a fork of a rewound session branches from its current branch', async () => {
  const { reeve, pid, session, model } = await rewindBench()
  for (const text of ['one', 'two', 'three']) await session.turn(text)
  await reeve.rewindAgent({ pid, turn: 2, label: 'first try' })
  // The head is in the middle of the log now.
  const { record: early } = await reeve.forkAgent({ pid, goal: 'from the head' })
  expect(early.agent).toMatchObject({ turns: 2, forkedFrom: { pid, turn: 1 } })
  const first = await model.next()
  expect(first.prompt).toContain('answer to one')
  expect(first.prompt).not.toContain('two')
  first.answer('ok')
  await reeve.waitAgent({ pid: early.pid, turn: 2 })
  await session.turn('four')
  await session.turn('five')
  for (const [at, others] of [
    [undefined, ['answer to four', 'answer to five']],
    [5, ['answer to four', 'answer to five']],
    [4, ['answer to four']],
    [1, []],
  ] as const) {
    const { record } = await reeve.forkAgent({ pid, goal: 'fork', ...(at === undefined ? {} : { at }) })
    const call = await model.next()
    expect(call.prompt.match(/answer to \w+/g)).toEqual(['answer to one', ...others])
    call.answer('ok')
    await reeve.waitAgent({ pid: record.pid, turn: (at ?? 5) + 1 })
  }
  for (const at of [2, 3])
    expect(await answerOrCode(reeve.forkAgent({ pid, at, goal: 'fork' }))).toBe('invalid_request')
  expect(await answerOrCode(reeve.forkAgent({ pid, at: 9, goal: 'fork' }))).toBe('not_found')
  await reeve.rewindAgent({ pid, branch: 'first try' })
  expect(await answerOrCode(reeve.forkAgent({ pid, at: 4, goal: 'fork' }))).toBe('invalid_request')
  const { record } = await reeve.forkAgent({ pid, goal: 'from the label' })
  const last = await model.next()
  expect(last.prompt.match(/answer to \w+/g)).toEqual(['answer to one', 'answer to two', 'answer to three'])
  last.answer('ok')
  expect(await reeve.waitAgent({ pid: record.pid, turn: 4 })).toMatchObject({ turn: { reason: 'finished' } })
  await reeve.rewindAgent({ pid, turn: 1 })
  expect(await answerOrCode(reeve.forkAgent({ pid, goal: 'fork' }))).toBe('invalid_request')
})

test('a fork is rewound also behind its branch point, and puts back only files that it has changed itself', async () => {
  const { reeve, pid, session, model, workspace } = await rewindBench()
  const text = (name: string) => readFileSync(join(workspace, name), 'utf8')
  await session.turn('one')
  const [second = ''] = await session.turn('two', [['write_file', { path: 'source.txt', content: 'source' }]])
  const { record } = await reeve.forkAgent({ pid, mode: 'copy', goal: 'three' })
  ;(await model.next()).answer('answer to three')
  await reeve.waitAgent({ pid: record.pid, turn: 3 })
  const fork = new PlayedSession(reeve, model, record.pid)
  await fork.turn('four', [['write_file', { path: 'fork.txt', content: 'fork' }]])
  expect(await reeve.rewindAgent({ pid: record.pid, turn: 3, label: 'own' })).toMatchObject({ last: 2 })
  expect(await fork.undo({ turn: 2 })).toMatchObject({ removed: 1, restored: 0, left: 0 })
  expect(text('source.txt')).toBe('source')
  expect(() => text('fork.txt')).toThrow('ENOENT')
  const [instead = ''] = await fork.turn('instead')
  expect(instead).toBe(second.replace('two', 'instead'))
  await reeve.rewindAgent({ pid: record.pid, branch: 'own' })
  const [next = ''] = await fork.turn('next')
  expect(next).toContain('answer to four')
  expect(next).not.toContain('instead')
  // Its source is as it was.
  const [third = ''] = await session.turn('third')
  expect(third).toContain('answer to two')
  expect(third).not.toContain('answer to three')
})

test('a fork in the middle of a turn is rewound to its branch point', async () => {
  const { reeve, pid, session, model } = await rewindBench()
  await session.turn('one')
  await reeve.runAgent({ pid, text: 'two' })
  ;(await model.next()).call('list_files', { path: '.' })
  const open = await model.next()
  const { record } = await reeve.forkAgent({ pid, goal: 'three' })
  const forked = await model.next()
  forked.answer('answer to three')
  await reeve.waitAgent({ pid: record.pid, turn: 3 })
  expect(await reeve.rewindAgent({ pid: record.pid, turn: 3 })).toMatchObject({ last: 2 })
  const fork = new PlayedSession(reeve, model, record.pid)
  const [instead = ''] = await fork.turn('instead')
  // The note about the fork belongs to its goal.
  const shared = forked.prompt.slice(0, forked.prompt.indexOf('three'))
  expect(shared).toContain('list_files')
  expect(instead.startsWith(`${shared}instead`)).toBe(true)
  await reeve.rewindAgent({ pid: record.pid, turn: 2 })
  expect((await fork.turn('again'))[0]).not.toContain('list_files')
  open.answer('ok')
  await reeve.waitAgent({ pid, turn: 2 })
})
