import assert from 'node:assert/strict'
import type { Scope } from '../../core/process/record.ts'
import { acknowledge } from '../../kernel/acknowledge.ts'
import { readNotices } from '../../kernel/read-notices.ts'
import { takeNotices } from '../../kernel/take-notices.ts'
import { type Behaves, pidOf, repeat } from './bench.ts'
import { completed, IN_SESSION, positionsOf, SCOPE, takeOf, tell } from './notices.ts'
import { snapshotOf } from './sound.ts'

/** Consumers read, take and acknowledge notices. */
export function inbox(behaves: Behaves): void {
  behaves('a consumer reads on from its own cursor, and others from theirs', async (bench) => {
    await tell(bench, 5)
    const read = (consumer: string) =>
      positionsOf(readNotices(bench.edges, { scope: SCOPE, consumer, limit: 3 }))
    const first = await read('one')
    assert.equal(first.length, 3)
    assert.deepEqual(await read('one'), first, 'an unacknowledged notice is read again')
    const through = first[1] ?? 0
    await acknowledge(bench.edges, { scope: SCOPE, consumer: 'one', through })
    assert.deepEqual((await read('one'))[0], first[2])
    assert.deepEqual(await read('two'), first)
    const back = await acknowledge(bench.edges, { scope: SCOPE, consumer: 'one', through: 0 })
    assert.equal(back.through, through, 'a cursor never goes back')
  })

  behaves(
    'a notice that one consumer has taken goes to no other until the visibility timeout',
    async (bench) => {
      await tell(bench, 4)
      const one = await takeOf(bench, 'one', 2)
      const two = await takeOf(bench, 'two', 10)
      assert.equal(one.length, 2)
      assert.equal(two.length, 2)
      assert.equal(new Set([...one, ...two]).size, 4)
      assert.deepEqual(await takeOf(bench, 'three', 10), [])
      bench.clock.advance(1_001)
      assert.deepEqual(
        await takeOf(bench, 'three', 10),
        [...one, ...two],
        'an unacknowledged notice is delivered again',
      )
    },
  )

  behaves('an acknowledged notice is never delivered again, to any consumer', async (bench) => {
    await tell(bench, 3)
    const taken = await takeOf(bench, 'one', 2)
    const [first = 0, second = 0] = taken
    const ack = (consumer: string, positions: readonly number[]) =>
      acknowledge(bench.edges, { scope: SCOPE, consumer, positions })
    assert.deepEqual(await ack('two', [first]), { acknowledged: [], lost: [first], through: 0 })
    assert.deepEqual(await ack('one', [first]), { acknowledged: [first], lost: [], through: 0 })
    assert.deepEqual(
      (await ack('one', [first])).acknowledged,
      [first],
      'a second acknowledgement changes nothing',
    )
    bench.clock.advance(1_001)
    const again = await takeOf(bench, 'two', 10)
    assert.equal(again.includes(first), false)
    assert.equal(again.includes(second), true)
    assert.deepEqual(await ack('one', [second]), { acknowledged: [], lost: [second], through: 0 })
    const open = await positionsOf(readNotices(bench.edges, { scope: SCOPE, limit: 10 }))
    assert.equal(open.includes(first), false)
    const all = await readNotices(bench.edges, { scope: SCOPE, limit: 10, all: true })
    assert.deepEqual(
      all.notices.map(({ done }) => done),
      ['acknowledged', null, null],
    )
  })

  behaves(
    'consumers that take at once, through several connections, never get the same notice',
    async (bench) => {
      const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
      await tell(bench, 60)
      const got: number[] = []
      await repeat(30, async (round) => {
        const over = edges[round % 3] ?? bench.edges
        const consumer = `c${round}`
        const taken = await takeNotices(over, { scope: SCOPE, consumer, limit: 3, visibilityMs: 60_000 })
        const positions = taken.notices.map(({ position }) => position)
        got.push(...positions)
        if (positions.length > 0) await acknowledge(over, { scope: SCOPE, consumer, positions })
      })
      assert.equal(got.length, 60)
      assert.equal(new Set(got).size, 60)
      assert.deepEqual(await takeOf(bench, 'late', 10), [])
    },
  )

  behaves('an acknowledgement beyond the newest notice hides nothing that comes later', async (bench) => {
    const nothing = await acknowledge(bench.edges, {
      scope: SCOPE,
      consumer: 'one',
      through: 1_700_000_000_000,
    })
    assert.equal(nothing.through, 0)
    assert.equal(await bench.store.ask({ ask: 'inbox', scope: SCOPE }), null, 'nothing was written')
    await tell(bench, 2)
    const all = await positionsOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
    const { through } = await acknowledge(bench.edges, {
      scope: SCOPE,
      consumer: 'one',
      through: 1_700_000_000_000,
    })
    assert.equal(through, all[1], 'the answer says how far the cursor moved')
    await bench.register(IN_SESSION, { pid: pidOf('later') })
    await bench.performed('appended', completed(pidOf('later')))
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, consumer: 'one', limit: 9 })
    assert.deepEqual(
      notices.map(({ pid }) => pid),
      [pidOf('later')],
    )
  })

  behaves(
    'an acknowledgement of an unknown position, or of a notice of another scope, changes nothing',
    async (bench) => {
      await tell(bench, 2)
      const [first = 0, second = 0] = await positionsOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
      const before = await snapshotOf(bench.store)
      const other: Scope = 'session:other'
      const none = { acknowledged: [], lost: [], through: 0 }
      assert.deepEqual(
        await acknowledge(bench.edges, { scope: other, consumer: 'x', positions: [first] }),
        none,
      )
      assert.deepEqual(
        await acknowledge(bench.edges, { scope: SCOPE, consumer: 'x', positions: [777_777] }),
        none,
      )
      assert.deepEqual(await snapshotOf(bench.store), before)
      const positions = [777_777, second, first, second]
      const some = await acknowledge(bench.edges, { scope: SCOPE, consumer: 'x', positions })
      assert.deepEqual(some.acknowledged, [second, first])
    },
  )

  behaves('the newest notices, and the notices of one process, are read alone', async (bench) => {
    const pids = await tell(bench, 7)
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, limit: 2, newest: true })
    assert.deepEqual(
      notices.map(({ pid }) => pid),
      pids.slice(-2),
    )
    const [pid = ''] = pids
    const about = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 9, pid })
    assert.deepEqual(
      about.map((notice) => notice.pid),
      [pid],
    )
  })

  behaves(
    'a deleted session leaves no notice and no cursor to the next session of its name',
    async (bench) => {
      await tell(bench, 2)
      await acknowledge(bench.edges, { scope: SCOPE, consumer: 'one', through: 99 })
      await bench.store.write(function* () {
        yield []
        return { answer: undefined, changes: [{ type: 'drop_notices', scope: SCOPE }] }
      })
      assert.equal(await bench.store.ask({ ask: 'inbox', scope: SCOPE }), null)
      assert.deepEqual(await positionsOf(readNotices(bench.edges, { scope: SCOPE, limit: 9, all: true })), [])
    },
  )
}
