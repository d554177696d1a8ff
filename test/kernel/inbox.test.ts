import { embed, type Reeve, type ToolHandler } from 'reeve'
import { openSqlite } from 'reeve/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const
const SCOPE = 'session:s1'

async function opened(): Promise<Reeve> {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session: 's1' })
  return reeve
}

async function told(reeve: Reeve): Promise<string> {
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' }, replyTo: { thread: 7 } })
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  return record.pid
}

test('two consumers that take from one inbox never get the same notice, and each is acknowledged once', async () => {
  const reeve = await opened()
  const agent = reeve.as('session:s1')
  const stop = new AbortController()
  const got: [string, string][] = []
  const wanted = 20
  const consumer = async (name: string) => {
    const follow = agent.inbox({ scope: SCOPE, consumer: name, take: {} }, { signal: stop.signal })
    for await (const { pid, position, replyTo } of follow) {
      got.push([name, pid])
      expect(replyTo).toEqual({ thread: 7 })
      await agent.acknowledge({ scope: SCOPE, consumer: name, positions: [position] })
      if (got.length === wanted) stop.abort()
    }
  }
  const consumers = [consumer('one'), consumer('two')]
  const pids = []
  for (let count = 0; count < wanted; count++) pids.push(await told(reeve))
  await Promise.all(consumers)
  expect(got.map(([, pid]) => pid).sort()).toEqual([...pids].sort())
  expect((await agent.notices({ scope: SCOPE })).notices).toEqual([])
})

test('a follower gets present and new notices, and takes none from others', async () => {
  const reeve = await opened()
  const first = await told(reeve)
  const seen: string[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const { pid, text } of reeve.inbox({ scope: SCOPE }, { signal: stop.signal })) {
      expect(text).toContain(`x (${pid}) completed`)
      seen.push(pid)
      if (seen.length === 2) stop.abort()
    }
  })()
  const second = await told(reeve)
  await following
  expect(seen).toEqual([first, second])
  expect((await reeve.notices({ scope: SCOPE })).notices.map(({ pid }) => pid)).toEqual([first, second])
})

test('notices that one consumer acknowledged are hidden from it, and not from others', async () => {
  const reeve = await opened()
  await told(reeve)
  await told(reeve)
  const read = async (consumer: string) => (await reeve.notices({ scope: SCOPE, consumer })).notices.length
  const { next } = await reeve.notices({ scope: SCOPE, limit: 1 })
  await reeve.acknowledge({ scope: SCOPE, consumer: 'one', through: next })
  expect([await read('one'), await read('two')]).toEqual([1, 2])
})

test('a session that waits for an end gets no notice of it; a wait of an operator changes nothing', async () => {
  const reeve = await opened()
  const one = await told(reeve)
  const two = await told(reeve)
  await reeve.wait({ pid: one })
  await reeve.as('session:s1').wait({ pid: two })
  expect((await reeve.notices({ scope: SCOPE })).notices.map(({ pid }) => pid)).toEqual([one])
  const all = (await reeve.notices({ scope: SCOPE, all: true })).notices
  expect(all.map(({ done }) => done)).toEqual([null, 'consumed'])
})

test('a waiter that aborts before the answer gets the notice later', async () => {
  const store = await openSqlite(tempStore())
  const gone = new AbortController()
  let asked = 0
  const watched: typeof store = Object.create(store, {
    ask: {
      value: async (question: Parameters<typeof store.ask>[0]) => {
        const answer = await store.ask(question)
        // The first look finds the process, the second one sees that it has ended.
        if (question.ask === 'process' && asked > 0 && ++asked === 3) gone.abort()
        return answer
      },
    },
    write: { value: store.write.bind(store) },
    onCommit: { value: store.onCommit.bind(store) },
    close: { value: store.close.bind(store) },
  })
  const reeve = await embed({ store: watched })
  onTestFinished(async () => {
    await reeve.close()
    await store.close()
  })
  await reeve.openSession({ session: 's1' })
  const pid = await told(reeve)
  asked = 1
  const agent = reeve.as('session:s1')
  expect(await agent.wait({ pid }, { signal: gone.signal })).toMatchObject({ type: 'ended' })
  expect(gone.signal.aborted).toBe(true)
  expect((await agent.notices({ scope: SCOPE })).notices.map((notice) => notice.pid)).toEqual([pid])
  await agent.wait({ pid })
  expect((await agent.notices({ scope: SCOPE })).notices).toEqual([])
})

test('an end that a list shows in a turn makes no notice in that turn', async () => {
  const reeve = await opened()
  const pid = await told(reeve)
  const agent = reeve.as('session:s1')
  await agent.list({ turn: 't1' })
  const shown = async (turn: string) => (await agent.notices({ scope: SCOPE, turn })).notices.length
  expect(await shown('t1')).toBe(1)
  await reeve.list({ filter: { status: 'any' }, turn: 't1' })
  expect(await shown('t1')).toBe(1)
  expect((await agent.list({ filter: { status: 'any' }, turn: 't1' })).processes).toMatchObject([
    { record: { pid } },
  ])
  expect([await shown('t1'), await shown('t2')]).toEqual([0, 1])
})

test('a session cannot read, take or acknowledge the notices of another', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's2' })
  await told(reeve)
  const other = reeve.as('session:s2')
  const asked = [
    () => other.notices({ scope: SCOPE }),
    () => other.takeNotices({ scope: SCOPE, consumer: 'x' }),
    () => other.acknowledge({ scope: SCOPE, consumer: 'x', through: 99 }),
    () => other.inbox({ scope: SCOPE })[Symbol.asyncIterator]().next(),
  ]
  for (const one of asked) await expect(one()).rejects.toMatchObject({ code: 'denied' })
  expect((await reeve.notices({ scope: SCOPE })).notices).toHaveLength(1)
})

test('a read that waits for a notice returns as soon as there is one', async () => {
  const reeve = await opened()
  const waiting = reeve.notices({ scope: SCOPE, waitMs: 60_000 })
  const taking = reeve.takeNotices({ scope: SCOPE, consumer: 'one', waitMs: 60_000 })
  const pid = await told(reeve)
  expect((await waiting).notices).toMatchObject([{ pid, kind: 'completion' }])
  expect((await taking).notices).toMatchObject([{ pid }])
})

test('a reader gets all notices since it connected, even if another reader acknowledged them', async () => {
  const reeve = await opened()
  const agent = reeve.as('session:s1')
  const { now } = await agent.whoami()
  const many = 1_100
  const request = { ...OUTSIDE, owner: { session: 's1' } }
  const { processes } = await reeve.spawnMany({ processes: Array.from({ length: many }, () => request) })
  const pids = processes.map(({ record }) => record.pid)
  for (const pid of pids) await reeve.end({ pid, status: 'completed', replayKey: 'e' })
  const [newest] = (await agent.notices({ scope: SCOPE, newest: true, limit: 1 })).notices
  const asked = { scope: SCOPE, consumer: 'mcp' }
  await agent.acknowledge({ ...asked, through: newest?.position ?? 0, reader: { id: 'other', since: now } })
  const read: string[] = []
  let page = { next: 0, more: true }
  while (page.more) {
    const { notices, ...rest } = await agent.notices({
      ...asked,
      after: page.next,
      limit: 500,
      reader: { id: 'early', since: now },
    })
    read.push(...notices.map(({ pid }) => pid))
    page = rest
  }
  expect(read).toEqual(pids)
  const later = { id: 'later', since: (newest?.at ?? 0) + 1 }
  expect((await agent.notices({ ...asked, reader: later })).notices).toEqual([])
})

/** The processes whose ends are in this inbox. */
async function endsIn(reeve: Reeve, scope: `session:${string}` | `process:${string}`): Promise<string[]> {
  const { notices } = await reeve.notices({ scope })
  return notices.filter(({ kind }) => kind === 'completion').map(({ pid }) => pid)
}

test('the end of a child that its parent waits for makes no notice, and the parent has the outcome in its log', async () => {
  const children = Promise.withResolvers<readonly string[]>()
  const parent: ToolHandler = async ({ spawn, wait }) => {
    const pids: string[] = []
    for (let count = 0; count < 2; count++) pids.push((await spawn(OUTSIDE)).pid)
    children.resolve(pids)
    return (await wait(pids[0] ?? '')).outcome?.result ?? null
  }
  const reeve = await embed({ store: tempStore(), tools: { parent } })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session: 's1' })
  const { record } = await reeve.spawn({
    kind: 'tool',
    spec: { tool: 'parent' },
    owner: { session: 's1' },
  })
  const { pid } = record
  const [awaited = '', other = ''] = await children.promise
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  await reeve.end({ pid: other, status: 'completed', replayKey: 'e' })
  await reeve.end({ pid: awaited, status: 'completed', result: 7, replayKey: 'e' })
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { status: 'completed', result: 7 } } })
  expect(await endsIn(reeve, SCOPE)).toEqual([other, pid])
  const { events } = await reeve.events({ pid })
  expect(events.filter(({ type }) => type === 'wait_left').map(({ payload }) => payload)).toMatchObject([
    { on: 'child', name: awaited, how: 'ended', value: { status: 'completed', result: 7 } },
  ])
})

test('the end of a tool call makes no notice; the ends of processes that the call started do', async () => {
  const reeve = await opened()
  const owner = { session: 's1', toolCall: 'call 1' }
  const { record: call } = await reeve.spawn({ ...OUTSIDE, owner })
  const { record: below } = await reeve.spawn({ ...OUTSIDE, parent: call.pid })
  const { record: nested } = await reeve.spawn({
    ...OUTSIDE,
    parent: call.pid,
    owner: { session: 's1', toolCall: 'call 2' },
  })
  const { record: moved } = await reeve.spawn({ ...OUTSIDE, owner })
  await reeve.changeOwner({ pid: moved.pid, owner: { session: 's1' } })
  expect(below.owner).toEqual(owner)
  for (const { pid } of [below, nested, call, moved])
    await reeve.end({ pid, status: 'completed', replayKey: 'e' })
  expect(await endsIn(reeve, SCOPE)).toEqual([below.pid, moved.pid])
})
