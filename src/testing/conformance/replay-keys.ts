import assert from 'node:assert/strict'
import { performAll } from '../../kernel/perform.ts'
import { type Asking, type Behaves, OUTSIDE, pidOf, TOOL } from './bench.ts'
import { snapshotOf } from './sound.ts'

const DECLARING = {
  ...OUTSIDE,
  eventTypes: {
    progress: { schema: { type: 'number' }, facet: 'done' },
    note: { schema: {} },
    finished: { schema: {}, end: 'completed' },
  },
} as const

export function replayKeys(behaves: Behaves): void {
  const pid = pidOf('a')
  const progress = (payload: number, replayKey: string | null): Asking => ({
    type: 'append',
    pid,
    event: 'progress',
    payload,
    replayKey,
    fence: null,
  })

  behaves('the same key with the same payload gets the first event, also after a restart', async (bench) => {
    await bench.register(DECLARING, { pid })
    await bench.performed('appended', progress(1, 'step 1'))
    const before = await snapshotOf(bench.store)
    bench.clock.advance(60_000)
    const { event } = await bench.performed('replayed', progress(1, 'step 1'))
    assert.deepEqual([event.seq, event.payload], [2, 1])
    const later = bench.edgesOver(await bench.open())
    assert.deepEqual((await bench.performed('replayed', progress(1, 'step 1'), later)).event, event)
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('the same key with another payload or type is a conflict, and nothing changes', async (bench) => {
    await bench.register(DECLARING, { pid })
    await bench.performed('appended', progress(1, 'step 1'))
    const before = await snapshotOf(bench.store)
    await bench.refused('replay_conflict', progress(2, 'step 1'))
    await bench.refused('replay_conflict', { ...progress(1, 'step 1'), event: 'note' } as Asking)
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('a key belongs to its process, and events without one repeat freely', async (bench) => {
    await bench.register(DECLARING, { pid })
    await bench.register(DECLARING, { pid: pidOf('b') })
    await bench.performed('appended', progress(1, 'k'))
    await bench.performed('appended', { ...progress(2, 'k'), pid: pidOf('b') } as Asking)
    await bench.performed('appended', progress(3, null))
    await bench.performed('appended', progress(3, null))
    assert.deepEqual((await bench.row(pid)).record.facets, { done: 3 })
  })

  behaves('a key that is used twice in one transaction is one event', async (bench) => {
    await bench.register(DECLARING, { pid })
    const intent = { ...progress(1, 'twice'), actor: 'host', at: bench.clock.now() } as const
    const both = await performAll(bench.edges, [intent, intent] as Parameters<typeof performAll>[1])
    assert.ok(Array.isArray(both))
    assert.deepEqual(
      both.map(({ type }) => type),
      ['appended', 'replayed'],
    )
    assert.deepEqual(await bench.eventTypes(pid), ['registered', 'progress'])
  })

  behaves(
    'an undeclared type, a reserved type, and a payload that breaks its schema are refused',
    async (bench) => {
      await bench.register(DECLARING, { pid })
      const before = await snapshotOf(bench.store)
      const append = (event: string, payload: string | number) =>
        ({ type: 'append', pid, event, payload, replayKey: null, fence: null }) as const
      await bench.refused('undeclared_event', append('unheard_of', 1))
      await bench.refused('undeclared_event', append('constructor', 1))
      await bench.refused('undeclared_event', append('started', 1))
      await bench.refused('undeclared_event', append('signal.go', 1))
      await bench.refused('payload_mismatch', append('progress', 'one'))
      await bench.refused('payload_too_large', append('note', 'x'.repeat(64 * 1024)))
      await bench.refused('replay_key_required', append('finished', 1))
      assert.deepEqual(await snapshotOf(bench.store), before)
    },
  )

  behaves('a repeated stop is one request, and a weaker one changes nothing', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    const stop = (how: 'interrupt' | 'cancel' | 'kill', replayKey: string) =>
      ({ type: 'stop', pid, how, reason: how, cause: null, replayKey }) as const
    await bench.performed('appended', stop('cancel', 'k1'))
    await bench.performed('replayed', stop('cancel', 'k1'))
    await bench.performed('kept', stop('cancel', 'k2'))
    await bench.performed('kept', stop('interrupt', 'k3'))
    assert.equal((await bench.row(pid)).record.stopRequest?.how, 'cancel')
    await bench.performed('appended', stop('kill', 'k4'))
    assert.equal((await bench.row(pid)).record.stopRequest?.how, 'kill')
    assert.deepEqual(await bench.eventTypes(pid), ['registered', 'stop_requested', 'stop_requested'])
  })

  behaves('only the holder writes events of a process that is executed', async (bench) => {
    const kernel = await bench.kernel({ id: 'k_one' })
    await kernel.kernel.register([
      { request: { ...TOOL, eventTypes: DECLARING.eventTypes }, actor: 'host', pid },
    ])
    const work = await kernel.begun(pid)
    const before = await snapshotOf(bench.store)
    await bench.refused('not_holding', progress(1, null))
    await bench.refused('stale_fence', {
      ...progress(1, null),
      fence: { holder: 'k_one', fence: 7 },
    } as Asking)
    assert.deepEqual(await snapshotOf(bench.store), before)
    await bench.performed('appended', { ...progress(1, null), fence: work.fence() } as Asking)
  })
}
