import assert from 'node:assert/strict'
import type { Reader } from '../../core/inbox/readers.ts'
import { acknowledge } from '../../kernel/acknowledge.ts'
import { consume, observe } from '../../kernel/consume-notices.ts'
import { readNotices } from '../../kernel/read-notices.ts'
import { takeNotices } from '../../kernel/take-notices.ts'
import { type Behaves, type Bench, pidOf, repeat, times } from './bench.ts'
import { completed, IN_SESSION, positionsOf, SCOPE, takeOf, tell } from './notices.ts'
import { snapshotOf } from './sound.ts'

/** Observations in a turn, and the readers of one consumer. */
export function inboxReaders(behaves: Behaves): void {
  behaves('a read skips a whole page of notices that were observed in the turn', async (bench) => {
    const [one = '', two = '', three = ''] = await tell(bench, 3)
    for (const pid of [one, two]) await observe(bench.edges, SCOPE, pid, 't1')
    const read = await readNotices(bench.edges, { scope: SCOPE, limit: 1, turn: 't1' })
    assert.deepEqual(
      read.notices.map(({ pid }) => pid),
      [three],
    )
  })

  behaves('observations in several turns at once are all stored with the notice', async (bench) => {
    const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    const [pid = ''] = await tell(bench, 1)
    await repeat(12, (round) => observe(edges[round % 3] ?? bench.edges, SCOPE, pid, `t${round}`))
    const [told] = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 1 })
    assert.deepEqual(
      [...(told?.observed ?? [])].sort(),
      times(12)
        .map((round) => `t${round}`)
        .sort(),
    )
  })

  behaves(
    'an observation hides the notice in the same turn only, and only for the scope that has it',
    async (bench) => {
      const [pid = ''] = await tell(bench, 1)
      const count = async (turn?: string) =>
        (
          await positionsOf(
            readNotices(bench.edges, { scope: SCOPE, limit: 9, ...(turn === undefined ? {} : { turn }) }),
          )
        ).length
      await observe(bench.edges, 'host', pid, 't1')
      await observe(bench.edges, 'session:s2', pid, 't1')
      assert.equal(await count('t1'), 1, 'observations of other actors change nothing')
      await observe(bench.edges, SCOPE, pid, 't1')
      assert.equal(await count('t1'), 0)
      assert.equal(await count('t2'), 1)
      assert.equal(await count(), 1)
      const taken = await takeNotices(bench.edges, {
        scope: SCOPE,
        consumer: 'one',
        limit: 9,
        visibilityMs: 1_000,
        turn: 't1',
      })
      assert.deepEqual(taken.notices, [])
    },
  )

  behaves(
    'a session that takes the outcome consumes its notice; other actors that take it change nothing',
    async (bench) => {
      const [pid = '', other = ''] = await tell(bench, 2)
      for (const actor of ['host', 'session:s2', `process:${pidOf('x')}`] as const)
        await consume(bench.edges, actor, pid)
      const open = async () =>
        (await readNotices(bench.edges, { scope: SCOPE, limit: 9 })).notices.map((notice) => notice.pid)
      assert.deepEqual(await open(), [pid, other])
      await consume(bench.edges, SCOPE, pid)
      assert.deepEqual(await open(), [other])
      assert.equal((await takeOf(bench, 'one', 9)).length, 1)
    },
  )

  behaves(
    'a notice that one reader consumed is still told to readers that existed then, and not to later ones',
    async (bench) => {
      const before = readerAt(bench, 'before')
      const other = readerAt(bench, 'other')
      bench.clock.advance(10)
      const [pid = '', open = ''] = await tell(bench, 2)
      await consume(bench.edges, SCOPE, pid, other)
      bench.clock.advance(10)
      const later = readerAt(bench, 'later')
      assert.deepEqual(await pidsFor(bench, before), [pid, open])
      assert.deepEqual(await pidsFor(bench, other), [open])
      assert.deepEqual(await pidsFor(bench, later), [open])
      assert.deepEqual(await pidsFor(bench), [open])
      assert.equal((await takeOf(bench, 'worker', 9)).length, 1)
      const page = { scope: SCOPE, consumer: 'mcp', reader: before, limit: 1 }
      const first = await readNotices(bench.edges, page)
      assert.deepEqual([first.notices.length, first.more], [1, true])
      const second = await readNotices(bench.edges, { ...page, after: first.next })
      assert.deepEqual(
        second.notices.map((notice) => notice.pid),
        [open],
      )
      const newest = await readNotices(bench.edges, { ...page, newest: true })
      assert.deepEqual(
        newest.notices.map((notice) => notice.pid),
        [open],
      )
      await observe(bench.edges, SCOPE, pid, 't1')
      const inTurn = await readNotices(bench.edges, { ...page, turn: 't1' })
      assert.deepEqual(
        inTurn.notices.map((notice) => notice.pid),
        [open],
        'a reader does not see a notice in a turn that observed it, though another reader consumed it',
      )
      await consume(bench.edges, SCOPE, pid, before)
      assert.deepEqual(await pidsFor(bench, before), [open])
      const snapshot = await snapshotOf(bench.store)
      await consume(bench.edges, SCOPE, pid, before)
      assert.deepEqual(await snapshotOf(bench.store), snapshot, 'to consume a second time changes nothing')
      const all = await readNotices(bench.edges, { scope: SCOPE, limit: 9, all: true })
      assert.deepEqual(
        all.notices.map(({ done }) => done),
        ['consumed', null],
      )
    },
  )

  behaves(
    'a notice that one reader acknowledged is still told to readers that existed then, and not to later ones',
    async (bench) => {
      const before = readerAt(bench, 'before')
      const other = readerAt(bench, 'other')
      bench.clock.advance(10)
      const pids = await tell(bench, 3)
      const positions = await positionsOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
      const acknowledged = { scope: SCOPE, consumer: 'mcp', through: positions[1] ?? 0 }
      assert.equal((await acknowledge(bench.edges, { ...acknowledged, reader: other })).through, positions[1])
      bench.clock.advance(10)
      assert.deepEqual(await pidsFor(bench, before), pids)
      assert.deepEqual(await pidsFor(bench, other), pids.slice(2))
      assert.deepEqual(await pidsFor(bench, readerAt(bench, 'later')), pids.slice(2))
      assert.deepEqual(await pidsFor(bench), pids.slice(2))
      await acknowledge(bench.edges, { ...acknowledged, reader: before })
      assert.deepEqual(await pidsFor(bench, before), pids.slice(2))
    },
  )

  behaves('many readers that acknowledge evict no consumer’s cursor', async (bench) => {
    const pids = await tell(bench, 2)
    const [first = 0] = await positionsOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
    const acknowledged = { scope: SCOPE, through: first }
    await acknowledge(bench.edges, { ...acknowledged, consumer: 'dashboard' })
    for (const count of times(120)) {
      bench.clock.advance(1)
      await acknowledge(bench.edges, {
        ...acknowledged,
        consumer: 'mcp',
        reader: readerAt(bench, `r${count}`),
      })
    }
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, consumer: 'dashboard', limit: 9 })
    assert.deepEqual(
      notices.map(({ pid }) => pid),
      pids.slice(1),
    )
  })

  behaves('notices are selected by time, and by the absence of an observation mark', async (bench) => {
    const [first = ''] = await tell(bench, 2)
    await observe(bench.edges, SCOPE, first, 't1')
    bench.clock.advance(10)
    const toldSince = bench.clock.now()
    const later = pidOf('later')
    await bench.register(IN_SESSION, { pid: later })
    await bench.performed('appended', completed(later))
    const question = { ask: 'notices', scope: SCOPE, after: 0, limit: 9 } as const
    const since = await bench.store.ask({ ...question, toldSince })
    assert.deepEqual(
      since.map(({ pid }) => pid),
      [later],
    )
    const unmarked = await bench.store.ask({ ...question, unobserved: 't1' })
    assert.equal(unmarked.length, 2)
    assert.equal(
      (await bench.store.ask({ ...question, unobserved: 't' })).length,
      3,
      'only a whole mark counts',
    )
  })
}

function readerAt(bench: Bench, id: string): Reader {
  return { id, since: bench.clock.now() }
}

/** The processes of the notices that a reader of the consumer `mcp`, or that consumer without a reader, reads. */
async function pidsFor(bench: Bench, reader?: Reader): Promise<string[]> {
  const { notices } = await readNotices(bench.edges, {
    scope: SCOPE,
    consumer: 'mcp',
    limit: 9,
    ...(reader === undefined ? {} : { reader }),
  })
  return notices.map(({ pid }) => pid)
}
