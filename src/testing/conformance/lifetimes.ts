import assert from 'node:assert/strict'
import type { Lifetime } from '../../core/process/record.ts'
import { endSession, endTurn, openSession, openTurn, touchSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, codeOf, pidOf, TOOL, times } from './bench.ts'
import { snapshotBesidesAudit, snapshotOf } from './sound.ts'
import { allCarried } from './tree.ts'

/** Sessions and turns, and the processes that end with them. */
export function lifetimes(behaves: Behaves): void {
  const owner = { session: 's1', turn: 't1' }
  const open = async (bench: Bench) => {
    await openSession(bench.edges, 'host', 's1', 'work')
    await openTurn(bench.edges, 'host', { session: 's1', turn: 't1' })
    await openTurn(bench.edges, 'host', { session: 's1', turn: 't2' })
    await bench.register({ ...TOOL, lifetime: 'detached' }, { pid: pidOf('root') })
    for (const lifetime of ['turn', 'session', 'parent', 'daemon', 'detached'] as const)
      await bench.register({ ...TOOL, owner, lifetime, parent: pidOf('root') }, { pid: pidOf(lifetime) })
    await bench.register(
      { ...TOOL, owner: { session: 's1', turn: 't2' }, lifetime: 'turn' },
      { pid: pidOf('other') },
    )
  }
  const statuses = async (bench: Bench) => {
    const texts: readonly (Lifetime | 'other')[] = [
      'turn',
      'session',
      'parent',
      'daemon',
      'detached',
      'other',
    ]
    return Promise.all(texts.map(async (text) => (await bench.row(pidOf(text))).record.status))
  }
  /** Of turn, session, parent, daemon, detached and other. */
  const afterTheSession = ['cancelled', 'cancelled', 'queued', 'queued', 'queued', 'cancelled']

  behaves('the end of a turn stops the processes with the lifetime of that turn', async (bench) => {
    await open(bench)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.endTurn('host', { session: 's1', turn: 't1' })
    assert.deepEqual(await statuses(bench), ['cancelled', 'queued', 'queued', 'queued', 'queued', 'queued'])
    const { outcome } = (await bench.row(pidOf('turn'))).record
    assert.deepEqual([outcome?.reason, outcome?.source], ['lifetime: turn t1 has ended', 'kernel:k_one'])
  })

  behaves(
    'the end of a session stops the processes with the lifetime of the session or of its turns',
    async (bench) => {
      await open(bench)
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const ended = await kernel.sessions.end('host', 's1')
      assert.equal(ended.endedAt, bench.clock.now())
      assert.deepEqual(await statuses(bench), afterTheSession)
      assert.equal(
        (await bench.row(pidOf('session'))).record.outcome?.reason,
        'lifetime: session s1 has ended',
      )
      await allCarried(bench)
      const before = await snapshotOf(bench.store)
      bench.clock.advance(1_000)
      await kernel.sessions.end('host', 's1')
      assert.deepEqual(await snapshotOf(bench.store), before, 'a second end changes nothing')
    },
  )

  behaves('the next sweep carries on an end that no kernel carried to its processes', async (bench) => {
    await open(bench)
    await endTurn(bench.edges, 'host', { session: 's1', turn: 't2' })
    await endSession(bench.edges, 'host', 's1')
    assert.deepEqual(
      await statuses(bench),
      times(6).map(() => 'queued'),
    )
    const scopes = await bench.store.ask({ ask: 'carryingScopes', limit: 10 })
    assert.deepEqual(scopes.map((scope) => ('session' in scope ? scope.session.id : scope.turn.id)).sort(), [
      's1',
      't2',
    ])
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sweep()
    assert.deepEqual(await statuses(bench), afterTheSession)
    await allCarried(bench)
  })

  behaves('more processes than a page are stopped with their session', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pids = times(450).map((index) => pidOf(`m${index}`))
    const request = { ...TOOL, owner: { session: 's1' } }
    await bench.tryRegister(pids.map((pid) => ({ pid, request })))
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.end('host', 's1')
    assert.deepEqual(await bench.store.ask({ ask: 'activity', session: 's1', since: null }), {
      live: 0,
      newestAt: null,
    })
  })

  behaves('sessions and turns are opened once and ended once', async (bench) => {
    const first = await openSession(bench.edges, 'host', 's1', 'mine')
    bench.clock.advance(5)
    assert.deepEqual(await openSession(bench.edges, 'host', 's1', 'other label'), first)
    const touched = await touchSession(bench.edges, 'host', 's1')
    assert.deepEqual(touched, { ...first, touchedAt: first.openedAt + 5 })
    const turn = await openTurn(bench.edges, 'host', { session: 's1', turn: 't1' })
    assert.deepEqual(await openTurn(bench.edges, 'host', { session: 's1', turn: 't1' }), turn)
    await endTurn(bench.edges, 'host', { session: 's1', turn: 't1' })
    await endSession(bench.edges, 'host', 's1')
    const before = await snapshotBesidesAudit(bench.store)
    const no = [
      ['session_ended', openSession(bench.edges, 'host', 's1', null)],
      ['session_ended', touchSession(bench.edges, 'host', 's1')],
      ['session_ended', openTurn(bench.edges, 'host', { session: 's1', turn: 't1' })],
      ['session_unknown', touchSession(bench.edges, 'host', 's2')],
      ['session_unknown', openTurn(bench.edges, 'host', { session: 's2', turn: 't1' })],
      ['turn_unknown', endTurn(bench.edges, 'host', { session: 's1', turn: 't9' })],
      ['denied', openSession(bench.edges, 'session:s1', 's2', null)],
    ] as const
    for (const [code, promise] of no) assert.equal(await codeOf(promise), code)
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
  })

  behaves('sessions are listed by id, in pages', async (bench) => {
    for (const id of ['b', 'a', 'ä', 'c', 'B']) await openSession(bench.edges, 'host', id, null)
    const page = async (after: string | null, limit: number) =>
      (await bench.store.ask({ ask: 'sessions', after, limit })).map(({ id }) => id)
    assert.deepEqual(await page(null, 2), ['B', 'a'])
    assert.deepEqual(await page('a', 2), ['b', 'c'])
    assert.deepEqual(await page('c', 2), ['ä'])
  })

  behaves('a process that moved to another session ends with the new session', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await openSession(bench.edges, 'host', 's2', null)
    const pid = pidOf('a')
    await bench.register({ ...TOOL, owner: { session: 's1' } }, { pid })
    await bench.refused('session_unknown', { type: 'change_owner', pid, owner: { session: 's3' } })
    await bench.performed('appended', { type: 'change_owner', pid, owner: { session: 's2' } })
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.end('host', 's1')
    assert.equal((await bench.row(pid)).record.status, 'queued')
    await bench.refused('session_ended', { type: 'change_owner', pid, owner: { session: 's1' } })
    await kernel.sessions.end('host', 's2')
    assert.equal((await bench.row(pid)).record.status, 'cancelled')
  })
}
