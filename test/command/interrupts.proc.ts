import type { Reeve, ToolHandler } from 'reeve'
import { expect, test } from 'vitest'
import { codeOf, ended, printed, runs, start, TempReeve } from './commands.ts'

const hang: ToolHandler = ({ abortSignal: signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

/** A session with a turn in which two tool calls have started a command each. */
async function twoCalls(reeve: Reeve) {
  await reeve.openSession({ session: 's' })
  await reeve.openTurn({ session: 's', turn: 't' })
  const owner = { session: 's', turn: 't' }
  const one = await start(reeve, { argv: ['sleep', '1001'] }, { owner: { ...owner, toolCall: 'one' } })
  const two = await start(reeve, { argv: ['sleep', '1002'] }, { owner: { ...owner, toolCall: 'two' } })
  return { one: one.pid, two: two.pid }
}

const statusOf = async (reeve: Reeve, pid: string) => (await reeve.show({ pid })).status

test('an interrupt of one tool call touches the commands of that one alone', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { one, two } = await twoCalls(reeve)
  expect(
    await reeve.interrupt({ scope: { session: 's', turn: 't', toolCall: 'one' }, reason: 'no' }),
  ).toEqual({
    matched: 1,
    signalled: [one],
    alreadyEnded: [],
    stale: [],
    unrecorded: [],
    failed: [],
  })
  expect((await ended(reeve, one)).outcome).toMatchObject({
    status: 'cancelled',
    reason: 'interrupted',
    signal: 'SIGINT',
    exitCode: null,
    source: 'host',
  })
  expect(await statusOf(reeve, two)).toBe('running')
  expect(temp.programs(two)).toHaveLength(1)
})

test('a session’s scope reaches its commands and its tools, and counts processes that had ended before', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { tools: { hang } })
  const { one, two } = await twoCalls(reeve)
  const { record: tool } = await reeve.spawn({
    kind: 'tool',
    spec: { tool: 'hang' },
    owner: { session: 's' },
  })
  const { record: outside } = await reeve.spawn({ kind: 'tool', spec: { tool: 'hang' } })
  const over = await runs(reeve, 'true', { owner: { session: 's', toolCall: 'over' } })
  const report = await reeve.interrupt({ scope: { session: 's' } })
  expect({ ...report, signalled: [...report.signalled].sort() }).toEqual({
    matched: 3,
    alreadyEnded: [],
    stale: [],
    unrecorded: [],
    failed: [],
    signalled: [one, two, tool.pid].sort(),
  })
  for (const pid of [one, two, tool.pid]) expect((await ended(reeve, pid)).status).toBe('cancelled')
  expect(await statusOf(reeve, outside.pid)).toBe('running')
  expect(await reeve.interrupt({ scope: { session: 's', toolCall: 'over' } })).toEqual({
    matched: 1,
    signalled: [],
    alreadyEnded: [over.pid],
    stale: [],
    unrecorded: [],
    failed: [],
  })
})

test('every selector must match; an empty scope is an error, and so is one that matches nothing', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { one, two } = await twoCalls(reeve)
  expect(await codeOf(reeve.interrupt({ scope: {} }))).toBe('empty_scope')
  expect(await codeOf(reeve.interrupt({ scope: { session: 's', toolCall: 'three' } }))).toBe('not_found')
  expect(await codeOf(reeve.interrupt({ scope: { pid: one, toolCall: 'two' } }))).toBe('not_found')
  expect(await codeOf(reeve.interrupt({ scope: { hook: 'h' } }))).toBe('not_found')
  for (const pid of [one, two]) expect(await statusOf(reeve, pid)).toBe('running')
})

test('descendants are left alone unless the whole tree was asked for', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const top = await start(reeve, { argv: ['sleep', '1001'] })
  const below = await start(reeve, { argv: ['sleep', '1002'] }, { parent: top.pid, lifetime: 'detached' })
  expect(await reeve.interrupt({ scope: { pid: top.pid } })).toMatchObject({
    matched: 1,
    signalled: [top.pid],
  })
  await ended(reeve, top.pid)
  expect(await statusOf(reeve, below.pid)).toBe('running')

  const second = await start(reeve, { argv: ['sleep', '1003'] })
  const child = await start(reeve, { argv: ['sleep', '1004'] }, { parent: second.pid, lifetime: 'detached' })
  const grandchild = await start(
    reeve,
    { argv: ['sleep', '1005'] },
    { parent: child.pid, lifetime: 'detached' },
  )
  const report = await reeve.interrupt({ scope: { pid: second.pid }, tree: true })
  const all = [second.pid, child.pid, grandchild.pid]
  expect([report.matched, [...report.signalled].sort()]).toEqual([3, all.sort()])
  for (const pid of all) expect((await ended(reeve, pid)).outcome).toMatchObject({ reason: 'interrupted' })
})

test('an interrupt is answered by a program as it likes, and its own code is on record', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(
    reeve,
    "trap 'echo stopped; exit 9' INT; echo ready; while :; do sleep 0.02; done",
  )
  await printed(reeve, pid, 'ready')
  await reeve.interrupt({ scope: { pid } })
  expect((await ended(reeve, pid)).outcome).toMatchObject({
    status: 'cancelled',
    reason: 'interrupted',
    exitCode: 9,
    signal: null,
  })
})

test('a session interrupts its own processes, and no others', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { one } = await twoCalls(reeve)
  await reeve.openSession({ session: 'other' })
  const other = await start(
    reeve,
    { argv: ['sleep', '1003'] },
    { owner: { session: 'other', toolCall: 'one' } },
  )
  const report = await reeve.as('session:s').interrupt({ scope: { toolCall: 'one' } })
  expect(report).toMatchObject({ matched: 1, signalled: [one] })
  expect((await ended(reeve, one)).outcome?.source).toBe('session:s')
  expect(await statusOf(reeve, other.pid)).toBe('running')
  expect(await codeOf(reeve.as('session:s').interrupt({ scope: { pid: other.pid } }))).toBe('not_found')
})

test('commands that another daemon started are interrupted by the one that took them over', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  await first.openSession({ session: 's' })
  const { pid } = await start(first, 'exec sleep 1000', { owner: { session: 's', toolCall: 'one' } })
  await first.close()
  const second = await temp.embed()
  expect(await second.interrupt({ scope: { toolCall: 'one' } })).toMatchObject({
    matched: 1,
    signalled: [pid],
  })
  expect((await ended(second, pid)).outcome).toMatchObject({ reason: 'interrupted', signal: 'SIGINT' })
})
