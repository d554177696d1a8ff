import { type Embedded, embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

/** Sessions `mine` and `others`; 130 processes of the others surround one of mine and one that is granted to me. */
async function crowded(): Promise<{ reeve: Embedded; own: string; granted: string }> {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  for (const session of ['mine', 'others']) await reeve.openSession({ session })
  const foreign = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      ...OUTSIDE,
      name: 'web',
      owner: { session: 'others' },
      pid: `p_aaaa${String(1000 + index)
        .replaceAll('0', 'b')
        .replaceAll('1', 'c')}2222`,
      ...more,
    }))
  await reeve.spawnMany({ processes: foreign(60).map(({ pid: _, ...one }) => one) })
  await reeve.spawnMany({ processes: foreign(105) })
  const own = 'p_aaaazzzzzzzz'
  const { record } = await reeve.spawn({
    ...OUTSIDE,
    owner: { session: 'others' },
    grants: [{ session: 'mine' }],
  })
  await reeve.spawn({ ...OUTSIDE, name: 'web', owner: { session: 'mine' }, pid: own })
  await reeve.spawnMany({ processes: foreign(60).map(({ pid: _, ...one }) => one) })
  return { reeve, own, granted: record.pid }
}

test('a session that lists one page sees its own process among many of others', async () => {
  const { reeve, own, granted } = await crowded()
  const mine = reeve.as('session:mine')
  const listed = async (input: Parameters<typeof mine.list>[0]) => {
    const { processes, next } = await mine.list(input)
    return { pids: processes.map(({ record, shared }) => [record.pid, shared]), next }
  }
  expect(await listed({ limit: 25 })).toEqual({
    pids: [
      [granted, true],
      [own, false],
    ],
    next: null,
  })
  const first = await listed({ limit: 1 })
  expect(first.pids).toEqual([[granted, true]])
  const second = await listed({ limit: 1, after: first.next ?? '' })
  expect(second.pids).toEqual([[own, false]])
  expect(await listed({ limit: 25, filter: { name: 'web' } })).toEqual({ pids: [[own, false]], next: null })
})

test('a process that lists one page sees itself and its children among many others', async () => {
  const { reeve, own } = await crowded()
  const { record: child } = await reeve.spawn({ ...OUTSIDE, parent: own })
  const { record: grandchild } = await reeve.spawn({ ...OUTSIDE, parent: child.pid })
  const { processes, next } = await reeve.as(`process:${own}`).list({ limit: 25 })
  expect(processes.map(({ record }) => record.pid)).toEqual([own, child.pid])
  expect(next).toBeNull()
  expect(grandchild.root).toBe(own)
})

test('a pid prefix that a hundred foreign processes share finds the own process', async () => {
  const { reeve, own } = await crowded()
  expect((await reeve.as('session:mine').show({ pid: 'p_aaaa' })).pid).toBe(own)
})

test('one page of the change feed has the own events after many foreign ones', async () => {
  const { reeve, own, granted } = await crowded()
  const { events, more } = await reeve.as('session:mine').changes({ limit: 10 })
  expect(events.map(({ pid }) => pid)).toEqual([granted, own])
  expect(more).toBe(false)
})

test('a full page of the change feed says so, and the next page continues after it', async () => {
  const { reeve, own, granted } = await crowded()
  const mine = reeve.as('session:mine')
  const first = await mine.changes({ limit: 1 })
  expect(first.events.map(({ pid }) => pid)).toEqual([granted])
  expect(first.more).toBe(true)
  const second = await mine.changes({ limit: 1, after: first.position })
  expect(second.events.map(({ pid }) => pid)).toEqual([own])
  const third = await mine.changes({ limit: 1, after: second.position })
  expect(third).toMatchObject({ events: [], more: false })
})

test('killAll of a session reaches its own process among many foreign ones, and no other', async () => {
  const { reeve, own, granted } = await crowded()
  const report = await reeve.as('session:mine').interrupt({ scope: { session: 'mine' } })
  expect(report).toMatchObject({ matched: 1, recorded: [own] })
  expect((await reeve.show({ pid: granted })).status).not.toBe('stopping')
})

test('notices that a turn has seen do not hide later ones from a consumer', async () => {
  const reeve = await embed({ store: tempStore(), tools: { done: () => null } })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session: 'mine' })
  const mine = reeve.as('session:mine')
  const ended = async () => {
    const { record } = await mine.spawn({ ...OUTSIDE, owner: { session: 'mine' } })
    await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
    return record.pid
  }
  for (let count = 0; count < 220; count++) await ended()
  await mine.list({ filter: { status: 'any' }, limit: 1_000, turn: 't' })
  const last = await ended()
  const take = { scope: 'session:mine', consumer: 'c', turn: 't', limit: 10, visibilityMs: 60_000 }
  const { notices } = await mine.takeNotices(take)
  expect(notices.map(({ pid }) => pid)).toEqual([last])
})
