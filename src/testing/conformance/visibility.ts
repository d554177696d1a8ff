import assert from 'node:assert/strict'
import { grant, revoke, transfer } from '../../kernel/grants.ts'
import { mayRead } from '../../kernel/resolve.ts'
import { markDeleted, openSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, codeOf, OUTSIDE, pidOf, TOOL, times } from './bench.ts'
import { photograph } from './sound.ts'

/** Grants, and what the deletion of a session takes with it. */
export function visibility(behaves: Behaves): void {
  const open = async (bench: Bench) => {
    for (const id of ['s1', 's2', 's3']) await openSession(bench.edges, 'host', id, null)
    for (const text of ['a', 'b', 'c'])
      await bench.register({ ...OUTSIDE, owner: { session: 's1' }, lifetime: 'daemon' }, { pid: pidOf(text) })
  }
  const granted = async (bench: Bench, session: string) =>
    (await bench.store.ask({ ask: 'grants', session })).map(({ pid, descriptor }) => [pid, descriptor])

  behaves('grants are given, told again, and taken back', async (bench) => {
    await open(bench)
    await grant(bench.edges, 'host', 's2', [pidOf('a'), pidOf('b')], { as: 'reader' })
    await grant(bench.edges, 'host', 's2', [pidOf('b')], null)
    assert.deepEqual(await granted(bench, 's2'), [
      [pidOf('a'), { as: 'reader' }],
      [pidOf('b'), null],
    ])
    const byPid = await bench.store.ask({ ask: 'grants', pid: pidOf('b') })
    assert.deepEqual(
      byPid.map(({ session }) => session),
      ['s2'],
    )
    assert.equal(await revoke(bench.edges, 'host', 's2', [pidOf('b'), pidOf('c')]), 1)
    assert.equal(await revoke(bench.edges, 'host', 's2', [pidOf('b')]), 0)
    assert.deepEqual(await granted(bench, 's2'), [[pidOf('a'), { as: 'reader' }]])
  })

  behaves('a grant shows, and gives no right to act', async (bench) => {
    await open(bench)
    const { record } = await bench.row(pidOf('a'))
    assert.equal(await mayRead(bench.edges, 'session:s2', record), false)
    await grant(bench.edges, 'host', 's2', [pidOf('a')], null)
    assert.equal(await mayRead(bench.edges, 'session:s2', record), true)
    const before = await photograph(bench.store)
    await bench.refused('denied', { type: 'pause', pid: pidOf('a'), actor: 'session:s2' })
    const again = grant(bench.edges, 'session:s2', 's3', [pidOf('a')], null)
    assert.equal(await codeOf(again), 'denied')
    assert.deepEqual(await photograph(bench.store), before)
  })

  behaves('grants of several processes, and their transfer, happen together or not at all', async (bench) => {
    await open(bench)
    await grant(bench.edges, 'host', 's2', [pidOf('a'), pidOf('b')], 1)
    const before = await photograph(bench.store)
    const no = [
      ['unknown_pid', grant(bench.edges, 'host', 's3', [pidOf('a'), pidOf('nobody')], null)],
      ['session_unknown', grant(bench.edges, 'host', 's9', [pidOf('a')], null)],
      ['unknown_pid', transfer(bench.edges, 'host', 's2', 's3', [pidOf('a'), pidOf('c')])],
      ['session_unknown', transfer(bench.edges, 'host', 's2', 's9', [pidOf('a')])],
      ['denied', transfer(bench.edges, 'session:s3', 's2', 's3', [pidOf('a')])],
    ] as const
    for (const [code, promise] of no) assert.equal(await codeOf(promise), code)
    assert.deepEqual(await photograph(bench.store), before)
    await transfer(bench.edges, 'session:s2', 's2', 's3', [pidOf('a'), pidOf('b')])
    assert.deepEqual(await granted(bench, 's2'), [])
    assert.deepEqual(await granted(bench, 's3'), [
      [pidOf('a'), 1],
      [pidOf('b'), 1],
    ])
  })

  behaves(
    'the deletion of a session takes what is its own, touches nothing else, and says what it did',
    async (bench) => {
      for (const id of ['s1', 's2']) await openSession(bench.edges, 'host', id, null)
      const own = { session: 's1' }
      await bench.register({ ...TOOL, owner: own }, { pid: pidOf('stopped') })
      await bench.register({ ...OUTSIDE, owner: own, lifetime: 'daemon' }, { pid: pidOf('preserved') })
      await bench.register(
        { ...OUTSIDE, owner: { session: 's2' }, wakeTarget: 's1' },
        { pid: pidOf('orphaned') },
      )
      await bench.register({ ...OUTSIDE, owner: { session: 's2' } }, { pid: pidOf('other') })
      await bench.register({ ...OUTSIDE, owner: own, lifetime: 'daemon' }, { pid: pidOf('ended') })
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf('ended'), reason: 'gone' })
      await grant(bench.edges, 'host', 's1', [pidOf('other')], null)
      await grant(bench.edges, 'host', 's2', [pidOf('preserved')], null)
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const other = await bench.row(pidOf('other'))
      const report = await kernel.deleteSession('host', 's1')
      assert.deepEqual(report, {
        revoked: 1,
        stopped: [pidOf('stopped')],
        orphaned: [pidOf('orphaned')],
        preserved: [pidOf('preserved')],
        noticesDropped: 2,
      })
      assert.deepEqual(await bench.row(pidOf('other')), other)
      assert.equal((await bench.row(pidOf('orphaned'))).record.wakeTarget, null)
      assert.deepEqual(await bench.store.ask({ ask: 'grants', session: 's1' }), [])
      assert.deepEqual(await granted(bench, 's2'), [[pidOf('preserved'), null]])
      assert.deepEqual(await bench.store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9 }), [])
      assert.equal(await bench.store.ask({ ask: 'session', id: 's1' }), null)
      assert.equal(await codeOf(kernel.deleteSession('host', 's1')), 'session_unknown')
    },
  )

  behaves('a deletion that crashed is finished by the next sweep', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pids = times(450).map((index) => pidOf(`w${index}`))
    await bench.tryRegister(pids.map((pid) => ({ pid, request: { ...OUTSIDE, wakeTarget: 's1' } })))
    await bench.register({ ...TOOL, owner: { session: 's1' } }, { pid: pidOf('stopped') })
    await grant(bench.edges, 'host', 's1', [pids[0] ?? ''], null)
    await markDeleted(bench.edges, 'host', 's1')
    const waking = await bench.store.ask({ ask: 'waking', session: 's1', limit: 1_000 })
    assert.equal(waking.length, 450)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sweep()
    assert.equal(await bench.store.ask({ ask: 'session', id: 's1' }), null)
    assert.deepEqual(await bench.store.ask({ ask: 'waking', session: 's1', limit: 10 }), [])
    assert.deepEqual(await bench.store.ask({ ask: 'grants', session: 's1' }), [])
    assert.equal((await bench.row(pidOf('stopped'))).record.status, 'cancelled')
  })

  behaves('activity counts what lives, in all, in a session, and since a time', async (bench) => {
    await open(bench)
    const activity = (session: string | null, since: number | null) =>
      bench.store.ask({ ask: 'activity', session, since })
    const begun = bench.clock.now()
    bench.clock.advance(1_000)
    await bench.register(OUTSIDE, { pid: pidOf('d') })
    await bench.performed('appended', { type: 'request_abandon', pid: pidOf('a'), reason: 'gone' })
    assert.deepEqual(await activity(null, null), { live: 3, newestAt: begun + 1_000 })
    assert.deepEqual(await activity('s1', null), { live: 2, newestAt: begun })
    assert.deepEqual(await activity('s2', null), { live: 0, newestAt: null })
    assert.deepEqual(await activity(null, begun + 1), { live: 1, newestAt: begun + 1_000 })
    assert.deepEqual(await activity('s1', begun + 1), { live: 0, newestAt: null })
  })
}
