import { expect, test } from 'vitest'
import { rewindBench } from './rewind-bench.ts'
import { payloads } from './scripted-agent.ts'
import { answerOrCode } from './served-agents.ts'

test('a rewound session goes on from before the turn, with the bytes that it had then, and answers the input for editing', async () => {
  const { reeve, pid, session } = await rewindBench()
  await session.turn('one')
  const [second = ''] = await session.turn('two')
  await session.turn('three', [['plan', { items: [{ text: 'x', state: 'pending' }] }]])
  const answer = await reeve.rewindAgent({ pid, turn: 2, label: 'first try' })
  expect(answer).toMatchObject({
    type: 'rewound',
    left: 3,
    last: 1,
    turn: null,
    undone: { turns: 2, selected: 0, modelCalls: 3, toolCalls: 1, files: { count: 0 } },
    removed: { turn: 2, parts: [{ type: 'text', text: 'two' }] },
  })
  const [prompt = ''] = await session.turn('instead')
  expect(prompt).not.toContain('two')
  expect(prompt).not.toContain('three')
  expect(prompt).toBe(second.replace('two', 'instead'))
})

test('the branch that was left is selected again by its label or its last turn, and goes on where it was', async () => {
  const { reeve, pid, session } = await rewindBench()
  await session.turn('one')
  await session.turn('two')
  const [third = ''] = await session.turn('three')
  await reeve.rewindAgent({ pid, turn: 2, label: 'first try' })
  await session.turn('other')
  const { branches, turns } = await reeve.rewindPoints({ pid })
  expect(branches).toMatchObject([{ last: 3, label: 'first try', turns: 2, from: 1 }])
  expect(turns).toMatchObject([
    { turn: 4, text: 'other' },
    { turn: 1, text: 'one' },
  ])
  expect(await reeve.rewindAgent({ pid, branch: 'first try' })).toMatchObject({
    left: 4,
    last: 3,
    undone: { turns: 1, selected: 2 },
  })
  const [next = ''] = await session.turn('four')
  expect(next.startsWith(third.slice(0, -1))).toBe(true)
  expect(next).toContain('answer to three')
  expect(next).not.toContain('other')
  expect(await reeve.rewindAgent({ pid, branch: '4' })).toMatchObject({ last: 4 })
})

test('a rewind behind a compaction makes the segment before it live again', async () => {
  const { reeve, pid, session } = await rewindBench()
  await session.turn('one')
  const [second = ''] = await session.turn('two')
  await session.compact('the summary')
  const [after = ''] = await session.turn('three')
  expect(after).toContain('the summary')
  await reeve.rewindAgent({ pid, turn: 2 })
  expect((await reeve.inspectAgent({ pid })).position.segment).toBe(1)
  expect((await session.turn('instead'))[0]).toBe(second.replace('two', 'instead'))
  // The next segment has a number that no branch has used.
  await session.compact('another summary')
  expect((await payloads(reeve, pid, 'segment_begun')).map(({ segment }) => segment)).toEqual([1, 2, 3])
  expect((await session.turn('on'))[0]).toContain('another summary')
  await reeve.rewindAgent({ pid, branch: '4' })
  const [again = ''] = await session.turn('four')
  expect(again.startsWith(after.slice(0, -1))).toBe(true)
})

test('a rewind to before the first turn begins the session anew', async () => {
  const { reeve, pid, session } = await rewindBench()
  const [first = ''] = await session.turn('the first words')
  expect(await reeve.rewindAgent({ pid, turn: 1 })).toMatchObject({ last: null, head: 0 })
  expect((await reeve.agentLog({ pid })).items.filter(({ type }) => type === 'turn_begun')).toEqual([])
  expect((await session.turn('again'))[0]).toBe(first.replace('the first words', 'again'))
})

test('a rewind is refused while a turn runs or is paused, with another head, and to unknown places', async () => {
  const { reeve, pid, session, model } = await rewindBench()
  await session.turn('one')
  const rewind = (more: object) => answerOrCode(reeve.rewindAgent({ pid, turn: 1, ...more }))
  const { position } = await reeve.inspectAgent({ pid })
  expect(await rewind({ expectedHead: position.head - 1 })).toBe('conflict')
  expect(await rewind({ turn: 7 })).toBe('not_found')
  expect(await answerOrCode(reeve.rewindAgent({ pid, branch: 'none' }))).toBe('not_found')
  expect(await answerOrCode(reeve.rewindAgent({ pid, branch: '1' }))).toBe('invalid_request')
  await reeve.runAgent({ pid, text: 'two' })
  const call = await model.next()
  expect(await rewind({})).toBe('already_running')
  expect(await answerOrCode(reeve.rewindPoints({ pid }))).toBe('already_running')
  call.call('plan', { items: [] })
  await model.next()
  await reeve.pauseAgent({ pid })
  expect(await rewind({})).toBe('invalid_request')
  expect(await answerOrCode(reeve.rewindPoints({ pid }))).toMatchObject({ turns: [{ turn: 1 }] })
})

test('a repeated rewind gets its first answer, also after the session has gone on', async () => {
  const { reeve, pid, session } = await rewindBench()
  await session.turn('one')
  await session.turn('two')
  const first = await reeve.rewindAgent({ pid, id: 'r', turn: 2 })
  await session.turn('three')
  expect(await reeve.rewindAgent({ pid, id: 'r', turn: 2 })).toEqual(first)
  expect(await answerOrCode(reeve.rewindAgent({ pid, id: 'r', turn: 1 }))).toBe('replay_conflict')
})

test('views, exports and followers show the branch, and the rewind', async () => {
  const { reeve, pid, session } = await rewindBench()
  await session.turn('one')
  await session.turn('two')
  const { after } = await reeve.agentLog({ pid })
  await reeve.rewindAgent({ pid, turn: 2 })
  await session.turn('three')
  const shown = async () => {
    const { items } = await reeve.agentLog({ pid })
    return items.flatMap(({ type, payload }) => (type === 'turn_begun' ? [payload.turn] : []))
  }
  expect(await shown()).toEqual([1, 3])
  const { text } = await reeve.exportAgent({ pid, format: 'markdown' })
  expect(text).toContain('answer to one')
  expect(text).not.toContain('answer to two')
  expect(text).toContain('answer to three')
  const { items } = await reeve.agentLog({ pid, after })
  expect(items[0]).toMatchObject({ type: 'session_rewound', payload: { left: 2, last: 1, turns: [[1, 1]] } })
  for await (const followed of reeve.followAgent({ pid, from: after })) {
    expect(followed).toMatchObject({ type: 'item', item: { type: 'session_rewound' } })
    break
  }
  await reeve.rewindAgent({ pid, branch: '2' })
  expect(await shown()).toEqual([1, 2])
})

test('a plan and the files that were read are those of the branch', async () => {
  const { reeve, pid, session, workspace } = await rewindBench()
  const { writeFileSync } = await import('node:fs')
  writeFileSync(`${workspace}/a.txt`, 'old\n')
  await session.turn('one', [['read_file', { path: 'a.txt' }]])
  writeFileSync(`${workspace}/a.txt`, 'new\n')
  await session.turn('two', [['read_file', { path: 'a.txt' }]])
  await reeve.rewindAgent({ pid, turn: 2 })
  // The model has seen the old content alone.
  await session.turn('three', [['edit_file', { path: 'a.txt', edits: [{ oldText: 'new', newText: 'x' }] }]])
  const results = await payloads(reeve, pid, 'tool_answered')
  expect(results.at(-1)).toMatchObject({ isError: true })
  expect(JSON.stringify(results.at(-1))).toContain('since you read it')
})

test('a session that was restored is rewound into the log of the agent before it', async () => {
  const { reeve, pid, session, model } = await rewindBench()
  const { PlayedSession } = await import('./rewind-bench.ts')
  await session.turn('one')
  const [second = ''] = await session.turn('two')
  await session.turn('three')
  await reeve.rewindAgent({ pid, turn: 3 })
  await reeve.shutDownAgent({ pid })
  await reeve.wait({ pid })
  const { record } = await reeve.restoreAgent({ pid })
  const restored = new PlayedSession(reeve, model, record.pid)
  const [fourth = ''] = await restored.turn('four')
  expect(fourth).toContain('answer to two')
  expect(fourth).not.toContain('three')
  expect(await reeve.rewindAgent({ pid: record.pid, turn: 2 })).toMatchObject({
    removed: { turn: 2, parts: [{ text: 'two' }] },
  })
  expect((await restored.turn('instead'))[0]).toBe(second.replace('two', 'instead'))
  await reeve.rewindAgent({ pid: record.pid, branch: '3' })
  expect((await restored.turn('five'))[0]).toContain('answer to three')
})
