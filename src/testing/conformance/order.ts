import assert from 'node:assert/strict'
import { performAll } from '../../kernel/perform.ts'
import { accepted, type Behaves, OUTSIDE, pidOf, times } from './bench.ts'
import { allChanges, snapshotOf } from './sound.ts'

/** Order: `seq` in one process, `position` over all processes, and pages that continue where the last one ended. */
export function order(behaves: Behaves): void {
  behaves(
    'events are numbered per process without gaps, and over all processes in order of commit',
    async (bench) => {
      await bench.register(OUTSIDE, { pid: pidOf('a') })
      await bench.register(OUTSIDE, { pid: pidOf('b') })
      for (const [pid, cwd] of [
        ['a', '/1'],
        ['b', '/2'],
        ['a', '/3'],
      ] as const)
        await bench.performed('appended', { type: 'change_cwd', pid: pidOf(pid), cwd })
      const feed = await allChanges(bench.store, 2)
      assert.deepEqual(
        feed.map(({ pid, seq, type }) => [pid, seq, type]),
        [
          [pidOf('a'), 1, 'registered'],
          [pidOf('b'), 1, 'registered'],
          [pidOf('a'), 2, 'cwd_changed'],
          [pidOf('b'), 2, 'cwd_changed'],
          [pidOf('a'), 3, 'cwd_changed'],
        ],
      )
      const at = bench.clock.now()
      assert.deepEqual(feed[4], {
        position: feed[4]?.position,
        pid: pidOf('a'),
        seq: 3,
        type: 'cwd_changed',
        at,
        actor: 'host',
        replayKey: null,
        payload: { cwd: '/3' },
      })
    },
  )

  behaves('a read after a seq or a position excludes that event', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    for (const index of times(9))
      await bench.performed('appended', { type: 'change_cwd', pid: pidOf('a'), cwd: `/${index}` })
    const seqs = async (after: number, limit: number) =>
      (await bench.store.ask({ ask: 'events', pid: pidOf('a'), after, limit })).map(({ seq }) => seq)
    assert.deepEqual(await seqs(0, 3), [1, 2, 3])
    assert.deepEqual(await seqs(3, 3), [4, 5, 6])
    assert.deepEqual(await seqs(9, 3), [10])
    assert.deepEqual(await seqs(10, 3), [])
    const upTo = async (after: number, bytes: number) =>
      (await bench.store.ask({ ask: 'events', pid: pidOf('a'), after, limit: 3, bytes })).map(
        ({ seq }) => seq,
      )
    const { length } = Buffer.from(JSON.stringify({ cwd: '/1' }))
    assert.deepEqual(await upTo(1, 1), [2])
    assert.deepEqual(await upTo(1, length), [2])
    assert.deepEqual(await upTo(1, length + 1), [2, 3])
    assert.deepEqual(await upTo(1, 1_000_000), [2, 3, 4])
    assert.deepEqual(await upTo(10, 1), [])
    const { events, position } = await bench.store.ask({ ask: 'changes', after: 0, limit: 4 })
    const last = events.at(-1)?.position ?? 0
    const rest = await bench.store.ask({ ask: 'changes', after: last, limit: 100 })
    assert.deepEqual(
      [...events, ...rest.events].map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    )
    assert.equal(position, rest.events.at(-1)?.position)
    const beyond = await bench.store.ask({ ask: 'changes', after: Number.MAX_SAFE_INTEGER, limit: 1 })
    assert.deepEqual(beyond, { events: [], position, prunedThrough: 0 })
  })

  behaves(
    'the tail has the last events in order, and single events are found by seq and by replay key',
    async (bench) => {
      await bench.register(OUTSIDE, { pid: pidOf('a') })
      for (const id of ['x', 'y', 'z'])
        await bench.performed('appended', { type: 'signal', pid: pidOf('a'), name: 'go', id, value: id })
      const tail = async (limit: number, more: { before?: number; bytes?: number } = {}) =>
        (await bench.store.ask({ ask: 'tail', pid: pidOf('a'), limit, ...more })).map(({ seq }) => seq)
      assert.deepEqual(await tail(2), [3, 4])
      assert.deepEqual(await tail(100), [1, 2, 3, 4])
      assert.deepEqual(await tail(2, { before: 4 }), [2, 3])
      assert.deepEqual(await tail(2, { before: 1 }), [])
      assert.deepEqual(await tail(2, { before: 100 }), [3, 4])
      const length = JSON.stringify({ id: 'z', value: 'z' }).length
      assert.deepEqual(await tail(3, { bytes: 1 }), [4])
      assert.deepEqual(await tail(3, { bytes: length }), [4])
      assert.deepEqual(await tail(3, { bytes: length + 1 }), [3, 4])
      assert.deepEqual(await tail(3, { before: 4, bytes: length + 1 }), [2, 3])
      const third = await bench.store.ask({ ask: 'eventAt', pid: pidOf('a'), seq: 3 })
      assert.deepEqual(third?.payload, { id: 'y', value: 'y' })
      const keyed = await bench.store.ask({ ask: 'event', pid: pidOf('a'), replayKey: 'signal:go:y' })
      assert.deepEqual(keyed, third)
      assert.equal(await bench.store.ask({ ask: 'eventAt', pid: pidOf('a'), seq: 5 }), null)
      assert.equal(await bench.store.ask({ ask: 'event', pid: pidOf('a'), replayKey: 'signal:go' }), null)
    },
  )

  behaves('a write to an unknown pid is refused, and a read of it finds no row', async (bench) => {
    assert.equal(await bench.store.ask({ ask: 'process', pid: pidOf('unknown') }), null)
    await bench.refused('unknown_pid', { type: 'pause', pid: pidOf('unknown') })
    assert.deepEqual(await bench.events(pidOf('unknown')), [])
  })

  behaves(
    'pages of a list stay in order of registration while processes are registered and end',
    async (bench) => {
      const name = (index: number) => pidOf(`n${index}`)
      accepted(await bench.tryRegister(times(7).map((index) => ({ pid: name(index) }))))
      const seen: string[] = []
      let after: number | null = null
      for (let round = 0; round < 10; round++) {
        const page: { items: readonly { record: { pid: string } }[]; next: number | null } =
          await bench.store.ask({ ask: 'processes', filter: {}, after, limit: 3 })
        seen.push(...page.items.map(({ record }) => record.pid))
        if (round === 0) {
          await bench.register(OUTSIDE, { pid: name(7) })
          await bench.performed('appended', { type: 'request_abandon', pid: name(1), reason: 'gone' })
          await bench.performed('appended', { type: 'request_abandon', pid: name(5), reason: 'gone' })
        }
        if (page.next === null) break
        after = page.next
      }
      assert.deepEqual(seen, [0, 1, 2, 3, 4, 6, 7].map(name))
      const newest = await bench.store.ask({
        ask: 'processes',
        filter: { status: 'any' },
        newestFirst: true,
        after: null,
        limit: 3,
      })
      assert.deepEqual(
        newest.items.map(({ record }) => record.pid),
        [7, 6, 5].map(name),
      )
      const older = await bench.store.ask({
        ask: 'processes',
        filter: { status: 'any' },
        newestFirst: true,
        after: newest.next,
        limit: 100,
      })
      assert.deepEqual(
        older.items.map(({ record }) => record.pid),
        [4, 3, 2, 1, 0].map(name),
      )
    },
  )

  behaves('pids are found by prefix, in order', async (bench) => {
    for (const text of ['abcd2', 'abcd1', 'abce', 'b']) await bench.register(OUTSIDE, { pid: pidOf(text) })
    const pids = (prefix: string, limit: number) => bench.store.ask({ ask: 'pids', prefix, limit })
    assert.deepEqual(await pids('p_abcd', 10), [pidOf('abcd1'), pidOf('abcd2')])
    assert.deepEqual(await pids('p_abc', 1), [pidOf('abcd1')])
    assert.deepEqual(await pids(pidOf('b'), 10), [pidOf('b')])
    assert.deepEqual(await pids('p_zzzz', 10), [])
  })

  behaves('intents over several processes happen together, or not at all', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.register(OUTSIDE, { pid: pidOf('b') })
    const change = (pid: string, cwd: string) =>
      ({ type: 'change_cwd', pid: pidOf(pid), cwd, actor: 'host', at: bench.clock.now() }) as const
    const both = await performAll(bench.edges, [change('a', '/1'), change('b', '/1'), change('a', '/2')])
    assert.ok(Array.isArray(both))
    const before = await snapshotOf(bench.store)
    const refused = await performAll(bench.edges, [change('a', '/3'), change('unknown', '/3')])
    assert.ok('code' in refused && refused.code === 'unknown_pid')
    assert.deepEqual(await snapshotOf(bench.store), before)
    assert.equal((await bench.row(pidOf('a'))).record.cwd, '/2')
  })
}
