import assert from 'node:assert/strict'
import type { Served } from '../../core/lease/holder.ts'
import { claim, reclaim } from '../../kernel/claim.ts'
import { type Asking, type Behaves, OUTSIDE, pidOf, RERUNNABLE, repeat, TOOL, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

export function leases(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves(
    'a free lease is granted with a higher fence, its holder keeps it, and others learn the holder’s id',
    async (bench) => {
      await bench.register(TOOL, { pid })
      assert.deepEqual(await claim(bench.edges, pid, 'k_one'), {
        type: 'granted',
        fence: { holder: 'k_one', fence: 1 },
      })
      const before = await snapshotOf(bench.store)
      assert.deepEqual(await claim(bench.edges, pid, 'k_one'), {
        type: 'granted',
        fence: { holder: 'k_one', fence: 1 },
      })
      assert.deepEqual(await claim(bench.edges, pid, 'k_two'), { type: 'busy', holder: 'k_one' })
      assert.deepEqual(await snapshotOf(bench.store), before)
      assert.equal((await bench.row(pid)).record.revision, 1)
    },
  )

  behaves(
    'a process that is unknown, ended, external, paused or not yet due is not claimed',
    async (bench) => {
      const refused = async (target: string, code: string) => {
        const answer = await claim(bench.edges, target, 'k_one')
        assert.equal(answer.type === 'refused' && answer.refusal.code, code, target)
      }
      await bench.register(RERUNNABLE, { pid: pidOf('ended') })
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf('ended'), reason: 'gone' })
      await bench.register(OUTSIDE, { pid: pidOf('external') })
      await bench.register(TOOL, { pid: pidOf('paused') })
      await bench.performed('appended', { type: 'pause', pid: pidOf('paused') })
      await bench.register(RERUNNABLE, { pid: pidOf('backoff') })
      await claim(bench.edges, pidOf('backoff'), 'k_dead')
      await bench.performed('appended', {
        type: 'put_back',
        pid: pidOf('backoff'),
        observed: { holder: 'k_dead', fence: 1 },
        evidence: 'holder_dead',
        retryAt: bench.clock.now() + 1_000,
      })
      const before = await snapshotOf(bench.store)
      await refused(pidOf('unknown'), 'unknown_pid')
      await refused(pidOf('ended'), 'already_ended')
      await refused(pidOf('external'), 'not_claimable')
      await refused(pidOf('paused'), 'not_claimable')
      await refused(pidOf('backoff'), 'not_claimable')
      assert.deepEqual(await snapshotOf(bench.store), before)
      bench.clock.advance(1_000)
      assert.equal((await claim(bench.edges, pidOf('backoff'), 'k_one')).type, 'granted')
    },
  )

  behaves('a release keeps the fence, and a stale release changes nothing', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    await claim(bench.edges, pid, 'k_one')
    const release = (holder: string, fence: number): Asking => ({
      type: 'release',
      pid,
      fence: { holder, fence },
    })
    const before = await snapshotOf(bench.store)
    await bench.performed('kept', release('k_two', 1))
    await bench.performed('kept', release('k_one', 2))
    assert.deepEqual(await snapshotOf(bench.store), before)
    await bench.performed('appended', release('k_one', 1))
    const { holder, fence } = await bench.row(pid)
    assert.deepEqual({ holder, fence }, { holder: null, fence: 1 })
    assert.deepEqual(await claim(bench.edges, pid, 'k_two'), {
      type: 'granted',
      fence: { holder: 'k_two', fence: 2 },
    })
  })

  behaves('an intent with a stale fence writes nothing', async (bench) => {
    const eventTypes = { note: { schema: {} }, done: { schema: {}, end: 'completed' } } as const
    await bench.register({ ...RERUNNABLE, eventTypes, group: { id: 'g', size: 1 } }, { pid })
    await claim(bench.edges, pid, 'k_one')
    await bench.performed('appended', { type: 'start', pid, fence: { holder: 'k_one', fence: 1 } })
    assert.equal(await reclaim(bench.edges, pid, 'k_one'), 2)
    const before = await snapshotOf(bench.store)
    const wait = { on: 'signal', name: 'go', ordinal: 1 } as const
    for (const fence of [
      { holder: 'k_one', fence: 1 },
      { holder: 'k_one', fence: 3 },
      { holder: 'k_two', fence: 2 },
    ]) {
      const writes: readonly Asking[] = [
        { type: 'start', pid, fence },
        { type: 'append', pid, event: 'note', payload: 1, replayKey: null, fence },
        { type: 'append', pid, event: 'done', payload: 1, replayKey: 'k', fence },
        { type: 'end', pid, ending: { status: 'completed' }, replayKey: 'k', fence },
        { type: 'enter_wait', pid, wait, until: null, fence },
        { type: 'leave_wait', pid, wait, how: 'timed_out', value: null, fence },
        { type: 'abandon', pid, observed: fence, evidence: 'holder_dead' },
        { type: 'put_back', pid, observed: fence, evidence: 'holder_dead', retryAt: 0 },
        { type: 'give_up', pid, observed: fence, reason: 'attempts_exhausted' },
      ]
      for (const write of writes) await bench.refused('stale_fence', write)
      await bench.performed('kept', { type: 'release', pid, fence })
    }
    assert.deepEqual(await snapshotOf(bench.store), before)
    const end = { type: 'end', pid, ending: { status: 'completed' }, replayKey: 'k' } as const
    await bench.performed('appended', { ...end, fence: { holder: 'k_one', fence: 2 } })
    assert.equal((await bench.row(pid)).holder, null)
  })

  behaves(
    'a holder whose row lapsed reclaims its own processes with a higher fence, and no others',
    async (bench) => {
      await bench.register(RERUNNABLE, { pid })
      await claim(bench.edges, pid, 'k_one')
      assert.equal(await reclaim(bench.edges, pid, 'k_two'), null)
      assert.equal(await reclaim(bench.edges, pidOf('unknown'), 'k_one'), null)
      assert.equal(await reclaim(bench.edges, pid, 'k_one'), 2)
      await bench.performed('appended', {
        type: 'end',
        pid,
        ending: { status: 'completed' },
        replayKey: 'k',
        fence: { holder: 'k_one', fence: 2 },
      })
      assert.equal(await reclaim(bench.edges, pid, 'k_one'), null)
      assert.equal((await bench.row(pid)).fence, 2)
    },
  )

  behaves('of two kernels that put one process back exactly one succeeds, 200 times over', async (bench) => {
    const other = bench.edgesOver(await bench.open())
    await repeat(200, async (round) => {
      const raced = pidOf(`r${round}`)
      await bench.register(RERUNNABLE, { pid: raced })
      await claim(bench.edges, raced, 'k_dead')
      const putBack: Asking = {
        type: 'put_back',
        pid: raced,
        observed: { holder: 'k_dead', fence: 1 },
        evidence: 'holder_dead',
        retryAt: bench.clock.now(),
      }
      const answers = await Promise.all([bench.perform(putBack), bench.perform(putBack, other)])
      assert.deepEqual(answers.map(({ type }) => type).sort(), ['appended', 'refused'], `round ${round}`)
      const claims = await Promise.all([claim(bench.edges, raced, 'k_one'), claim(other, raced, 'k_two')])
      assert.deepEqual(claims.map(({ type }) => type).sort(), ['busy', 'granted'], `round ${round}`)
      assert.equal((await bench.row(raced)).fence, 2)
    })
  })

  behaves(
    'claimable processes are ready, free and served, and found in order of registration',
    async (bench) => {
      const find = (serves: readonly Served[], limit = 10) =>
        bench.store.ask({ ask: 'claimable', serves, here: [], at: bench.clock.now(), limit })
      for (const [text, request] of [
        ['one', { kind: 'tool', spec: { tool: 'one' } }],
        ['two', { kind: 'tool', spec: { tool: 'two' } }],
        ['workflow', { kind: 'workflow', spec: { workflow: 'one' } }],
        ['outside', OUTSIDE],
        ['taken', { kind: 'tool', spec: { tool: 'one' } }],
        ['again', { kind: 'tool', spec: { tool: 'one' }, recovery: 'rerunnable' }],
      ] as const) {
        await bench.register(request, { pid: pidOf(text) })
        bench.clock.advance(10)
      }
      await claim(bench.edges, pidOf('taken'), 'k_one')
      await claim(bench.edges, pidOf('again'), 'k_one')
      const due = bench.clock.now() + 5_000
      await bench.performed('appended', {
        type: 'put_back',
        pid: pidOf('again'),
        observed: { holder: 'k_one', fence: 1 },
        evidence: 'holder_dead',
        retryAt: due,
      })
      const tools: readonly Served[] = [{ kind: 'tool', targets: null }]
      const ones: readonly Served[] = [{ kind: 'tool', targets: ['one'] }]
      const mixed: readonly Served[] = [
        { kind: 'tool', targets: ['two', 'three'] },
        { kind: 'workflow', targets: ['one'] },
      ]
      assert.deepEqual(await find(tools), [pidOf('one'), pidOf('two')])
      assert.deepEqual(await find(tools, 1), [pidOf('one')])
      assert.deepEqual(await find(ones), [pidOf('one')])
      assert.deepEqual(await find(mixed), [pidOf('two'), pidOf('workflow')])
      assert.deepEqual(await find([{ kind: 'external', targets: null }]), [])
      assert.deepEqual(await find([]), [])
      const next = (serves: readonly Served[]) =>
        bench.store.ask({ ask: 'nextDue', serves, here: [], at: bench.clock.now() })
      assert.equal(await next(ones), due)
      assert.equal(await next(mixed), null)
      bench.clock.advance(5_000)
      assert.deepEqual(await find(ones), [pidOf('one'), pidOf('again')])
    },
  )

  behaves('the processes of a holder are listed in pages', async (bench) => {
    for (const index of times(5)) {
      await bench.register(TOOL, { pid: pidOf(`h${index}`) })
      await claim(bench.edges, pidOf(`h${index}`), index === 2 ? 'k_two' : 'k_one')
    }
    const held = (after: number | null) => bench.store.ask({ ask: 'held', holder: 'k_one', after, limit: 3 })
    const first = await held(null)
    const rest = await held(first.next)
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ record }) => record.pid),
      [0, 1, 3, 4].map((index) => pidOf(`h${index}`)),
    )
    assert.equal(rest.next, null)
  })

  behaves('a holder’s row lapses by the store’s clock, and disappears when it is removed', async (bench) => {
    await bench.announce('k_live', 60_000)
    await bench.announce('k_late', -1)
    const rows = await bench.store.ask({ ask: 'holders' })
    assert.deepEqual(
      rows.map(({ id, expired }) => [id, expired]),
      [
        ['k_late', true],
        ['k_live', false],
      ],
    )
    assert.equal((await bench.store.ask({ ask: 'holder', id: 'k_late' }))?.expired, true)
    await bench.announce('k_late', 60_000)
    assert.equal((await bench.store.ask({ ask: 'holder', id: 'k_late' }))?.expired, false)
    await bench.store.write(function* () {
      yield []
      return { answer: null, changes: [{ type: 'holder_gone', id: 'k_late' }] }
    })
    assert.equal(await bench.store.ask({ ask: 'holder', id: 'k_late' }), null)
  })
}
