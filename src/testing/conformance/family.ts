import assert from 'node:assert/strict'
import { endSession, endTurn, openSession, openTurn } from '../../kernel/sessions.ts'
import { accepted, type Behaves, OUTSIDE, pidOf, refusalOf, TOOL } from './bench.ts'
import { snapshotOf } from './sound.ts'

/** Registrations with parents, groups, sessions, turns and environments. */
export function family(behaves: Behaves): void {
  behaves(
    'a child is registered together with its parent’s event, its grants and its group seat, or not at all',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      await bench.register(OUTSIDE, { pid: pidOf('a') })
      const child = {
        ...OUTSIDE,
        parent: pidOf('a'),
        label: 'the child',
        group: { id: 'g', size: 2 },
        grants: [{ session: 's1', descriptor: { as: 'helper' } }],
      }
      await bench.register(child, { pid: pidOf('b') })
      const parent = await bench.row(pidOf('a'))
      assert.equal(parent.record.children, 1)
      const events = await bench.events(pidOf('a'))
      assert.deepEqual(events.at(-1)?.payload, { pid: pidOf('b'), kind: 'external', label: 'the child' })
      const at = bench.clock.now()
      assert.deepEqual(await bench.store.ask({ ask: 'grants', session: 's1' }), [
        { session: 's1', pid: pidOf('b'), descriptor: { as: 'helper' }, at },
      ])
      assert.deepEqual((await bench.store.ask({ ask: 'group', id: `process:${pidOf('a')} g` }))?.seats, [
        { pid: pidOf('b'), outcome: null },
        null,
      ])
      const before = await snapshotOf(bench.store)
      const misfit = { ...child, group: { id: 'g', size: 3 } }
      assert.equal(
        refusalOf(await bench.tryRegister([{ pid: pidOf('c'), request: misfit }])),
        'group_conflict',
      )
      assert.deepEqual(await snapshotOf(bench.store), before)
    },
  )

  behaves(
    'a child inherits owner, folder and environment, and lives as long as its parent',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const parent = { ...TOOL, owner: { session: 's1' }, cwd: '/srv', lifetime: 'detached' } as const
      await bench.register(parent, { pid: pidOf('a') })
      const inherited = await bench.register({ ...TOOL, parent: pidOf('a') }, { pid: pidOf('b') })
      const { owner, cwd, envRef, lifetime, recovery } = inherited.record
      assert.deepEqual(
        { owner, cwd, envRef, lifetime, recovery },
        {
          owner: { session: 's1' },
          cwd: '/srv',
          envRef: 'no-environment',
          lifetime: 'session',
          recovery: 'bound',
        },
      )
      const own = { ...TOOL, parent: pidOf('a'), owner: {} }
      assert.equal((await bench.register(own, { pid: pidOf('c') })).record.lifetime, 'parent')
    },
  )

  behaves('no process is registered under a stopping or ended ancestor', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.register({ ...OUTSIDE, parent: pidOf('a') }, { pid: pidOf('b') })
    await bench.performed('appended', {
      type: 'stop',
      pid: pidOf('a'),
      how: 'cancel',
      reason: 'enough',
      cause: null,
      replayKey: 'stop',
    })
    const before = await snapshotOf(bench.store)
    for (const parent of [pidOf('a'), pidOf('b')])
      assert.equal(refusalOf(await bench.tryRegister([{ request: { ...OUTSIDE, parent } }])), 'stopping')
    assert.deepEqual(await snapshotOf(bench.store), before)
    await bench.performed('appended', {
      type: 'end',
      pid: pidOf('a'),
      ending: { status: 'cancelled' },
      replayKey: 'end',
      fence: null,
    })
    for (const parent of [pidOf('a'), pidOf('b')])
      assert.equal(refusalOf(await bench.tryRegister([{ request: { ...OUTSIDE, parent } }])), 'already_ended')
  })

  behaves('an unknown parent, and a tree that is too deep, are refused', async (bench) => {
    const orphan = await bench.tryRegister([{ request: { ...OUTSIDE, parent: pidOf('unknown') } }])
    assert.equal(refusalOf(orphan), 'unknown_pid')
    await bench.register({ ...OUTSIDE, limits: { depth: 1 } }, { pid: pidOf('a') })
    await bench.register({ ...OUTSIDE, parent: pidOf('a'), limits: { depth: 9 } }, { pid: pidOf('b') })
    const grandchild = await bench.tryRegister([{ request: { ...OUTSIDE, parent: pidOf('b') } }])
    assert.equal(refusalOf(grandchild), 'depth_exceeded')
  })

  behaves('seats of a group are taken in order or by number, each once', async (bench) => {
    const seat = (pid: string, group: { id: string; size: number; index?: number }) =>
      bench.tryRegister([{ pid: pidOf(pid), request: { ...OUTSIDE, group } }])
    accepted(await seat('a', { id: 'g', size: 3, index: 1 }))
    accepted(await seat('b', { id: 'g', size: 3 }))
    accepted(await seat('c', { id: 'g', size: 3 }))
    assert.deepEqual(
      (await bench.store.ask({ ask: 'group', id: ' g' }))?.seats.map((taken) => taken?.pid),
      [pidOf('b'), pidOf('a'), pidOf('c')],
    )
    const before = await snapshotOf(bench.store)
    assert.equal(refusalOf(await seat('d', { id: 'g', size: 3 })), 'group_conflict')
    assert.equal(refusalOf(await seat('e', { id: 'g', size: 3, index: 1 })), 'group_conflict')
    assert.equal(refusalOf(await seat('f', { id: 'h', size: 2, index: 2 })), 'group_conflict')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('sessions and turns must exist and be open, and a lifetime needs its scope', async (bench) => {
    const owned = async (
      owner: { session?: string; turn?: string },
      lifetime?: 'turn' | 'session' | 'parent',
    ) =>
      bench.tryRegister([{ request: { ...OUTSIDE, owner, ...(lifetime === undefined ? {} : { lifetime }) } }])
    assert.equal(refusalOf(await owned({ session: 's1' })), 'session_unknown')
    await openSession(bench.edges, 'host', 's1', null)
    await openTurn(bench.edges, 'host', { session: 's1', turn: 't1' })
    assert.equal(refusalOf(await owned({ session: 's1', turn: 't2' })), 'turn_unknown')
    accepted(await owned({ session: 's1', turn: 't1' }, 'turn'))
    assert.equal(refusalOf(await owned({ session: 's1' }, 'turn')), 'lifetime_without_scope')
    assert.equal(refusalOf(await owned({}, 'session')), 'lifetime_without_scope')
    assert.equal(refusalOf(await owned({}, 'parent')), 'lifetime_without_scope')
    await endTurn(bench.edges, 'host', { session: 's1', turn: 't1' })
    assert.equal(refusalOf(await owned({ session: 's1', turn: 't1' })), 'turn_ended')
    await endSession(bench.edges, 'host', 's1')
    assert.equal(refusalOf(await owned({ session: 's1' })), 'session_ended')
  })

  behaves('an environment is stored once, and an unknown one is refused', async (bench) => {
    const environment = {
      variables: { TOKEN: { secret: 'token' } },
      policy: { net: false },
      options: { n: 1 },
    }
    const put = () =>
      bench.store.write(function* () {
        yield []
        return { answer: null, changes: [{ type: 'environment', ref: 'e1', environment }] }
      })
    await put()
    await put()
    assert.deepEqual(await bench.store.ask({ ask: 'environment', ref: 'e1' }), environment)
    const withRef = (kind: 'tool' | 'external', envRef: string) =>
      bench.tryRegister([{ request: { ...(kind === 'tool' ? TOOL : OUTSIDE), envRef } }])
    assert.equal(refusalOf(await withRef('tool', 'e2')), 'environment_unknown')
    assert.equal(refusalOf(await withRef('external', 'e1')), 'environment_forbidden')
    const [registered] = accepted(await withRef('tool', 'e1'))
    assert.equal(registered?.type === 'registered' && registered.row.record.envRef, 'e1')
  })

  behaves('a session registers only processes that it owns', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await openSession(bench.edges, 'host', 's2', null)
    const as = (owner: { session?: string }) =>
      bench.tryRegister([{ actor: 'session:s1', request: { ...OUTSIDE, owner } }])
    assert.equal(refusalOf(await as({ session: 's2' })), 'denied')
    assert.equal(refusalOf(await as({})), 'denied')
    accepted(await as({ session: 's1' }))
  })
}
