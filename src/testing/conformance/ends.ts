import assert from 'node:assert/strict'
import type { Ending } from '../../core/process/intent.ts'
import { type Asking, type Behaves, OUTSIDE, pidOf, RERUNNABLE, repeat, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

export function ends(behaves: Behaves): void {
  const pid = pidOf('a')
  const end = (ending: Ending, replayKey: string): Asking => ({
    type: 'end',
    pid,
    ending,
    replayKey,
    fence: null,
  })

  behaves('an end is the outcome, with every field that was given', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    bench.clock.advance(500)
    const ending = {
      status: 'failed',
      exitCode: 3,
      signal: 'SIGSEGV',
      reason: 'it broke',
      result: [1],
    } as const
    const { row } = await bench.performed('appended', end(ending, 'the end'))
    assert.equal(row.record.status, 'failed')
    assert.deepEqual(row.record.outcome, {
      ...ending,
      source: null,
      evidence: null,
      startedAt: null,
      endedAt: bench.clock.now(),
    })
    assert.deepEqual(await bench.row(pid), row)
  })

  behaves('an exact retry of the end gets the first answer, any other end is refused', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    await bench.performed('appended', end({ status: 'completed', result: 'done' }, 'k'))
    const before = await snapshotOf(bench.store)
    bench.clock.advance(60_000)
    const { event } = await bench.performed('replayed', end({ status: 'completed', result: 'done' }, 'k'))
    assert.deepEqual([event.type, event.seq], ['ended', 2])
    await bench.refused('replay_conflict', end({ status: 'completed', result: 'other' }, 'k'))
    await bench.refused('already_ended', end({ status: 'completed', result: 'done' }, 'k2'))
    await bench.refused('already_ended', end({ status: 'failed' }, 'k3'))
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('an ended process never changes its status', async (bench) => {
    await bench.register({ ...OUTSIDE, eventTypes: { note: { schema: {} } } }, { pid })
    await bench.performed('appended', end({ status: 'completed' }, 'k'))
    const before = await snapshotOf(bench.store)
    const fence = { holder: 'k_one', fence: 1 }
    const observed = { holder: null, fence: 0 }
    const wait = { on: 'signal', name: 'go', ordinal: 1 } as const
    const late: readonly Asking[] = [
      { type: 'start', pid, fence },
      { type: 'append', pid, event: 'note', payload: 1, replayKey: null, fence: null },
      { type: 'pause', pid },
      { type: 'resume', pid },
      { type: 'signal', pid, name: 'go', id: '1', value: null },
      { type: 'enter_wait', pid, wait, until: null, fence },
      { type: 'leave_wait', pid, wait, how: 'timed_out', value: null, fence },
      { type: 'request_abandon', pid, reason: 'late' },
      { type: 'confirm_stop', pid, delivered: { how: 'kill', by: 'signal' } },
      { type: 'change_owner', pid, owner: {} },
      { type: 'change_cwd', pid, cwd: '/' },
      { type: 'set_external_ref', pid, ref: 1 },
      { type: 'put_back', pid, observed, evidence: 'holder_dead', retryAt: 0 },
      { type: 'abandon', pid, observed, evidence: 'holder_dead' },
      { type: 'give_up', pid, observed, reason: 'attempts_exhausted' },
      { type: 'give_up_stop', pid, fence },
    ]
    for (const asking of late) await bench.refused('already_ended', asking)
    const stop = { type: 'stop', pid, how: 'kill', reason: 'late', cause: null, replayKey: 's' } as const
    await bench.performed('kept', stop)
    await bench.performed('kept', { type: 'release', pid, fence })
    await bench.performed('kept', { type: 'clear_wake_target', pid, session: 's1' })
    await bench.performed('kept', { type: 'reveal', pid, verb: 'log' })
    await bench.performed('kept', { type: 'settle_stop', pid, observed })
    await bench.performed('kept', { type: 'answer', pid, wait, value: null })
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('an event that the process declared as an end ends it', async (bench) => {
    const eventTypes = { shipped: { schema: {}, end: 'completed', facet: 'parcel' } } as const
    await bench.register({ ...OUTSIDE, eventTypes }, { pid })
    const shipped = (replayKey: string, payload = 'in the post'): Asking => ({
      type: 'append',
      pid,
      event: 'shipped',
      payload,
      replayKey,
      fence: null,
    })
    const { row } = await bench.performed('appended', shipped('k'))
    assert.equal(row.record.outcome?.status, 'completed')
    assert.equal(row.record.outcome?.result, 'in the post')
    assert.deepEqual(row.record.facets, { parcel: 'in the post' })
    await bench.performed('replayed', shipped('k'))
    await bench.refused('replay_conflict', shipped('k', 'lost'))
    await bench.refused('already_ended', shipped('k2'))
    await bench.refused('already_ended', end({ status: 'failed' }, 'k3'))
  })

  behaves(
    'a stop ends a process at once if no kernel executes it, and otherwise only requests the end',
    async (bench) => {
      const stop = (target: string): Asking => ({
        type: 'stop',
        pid: target,
        how: 'cancel',
        reason: 'not needed',
        cause: null,
        replayKey: 's',
      })
      await bench.register(RERUNNABLE, { pid })
      const { row } = await bench.performed('appended', stop(pid))
      assert.equal(row.record.status, 'cancelled')
      assert.deepEqual([row.record.outcome?.reason, row.record.outcome?.source], ['not needed', 'host'])
      assert.deepEqual(await bench.eventTypes(pid), ['registered', 'stop_requested', 'ended'])
      await bench.register(OUTSIDE, { pid: pidOf('b') })
      const asked = await bench.performed('appended', stop(pidOf('b')))
      assert.deepEqual([asked.row.record.status, asked.row.record.outcome], ['stopping', null])
    },
  )

  behaves(
    'the delivery of a stop to an external process is recorded once, and does not count for a stronger stop',
    async (bench) => {
      const stop = (how: 'cancel' | 'kill'): Asking => ({
        type: 'stop',
        pid,
        how,
        reason: 'not needed',
        cause: null,
        replayKey: how,
      })
      const confirm = (how: 'cancel' | 'kill'): Asking => ({
        type: 'confirm_stop',
        pid,
        delivered: { how, by: 'signal' },
      })
      await bench.register(OUTSIDE, { pid })
      await bench.performed('kept', confirm('cancel'))
      await bench.performed('appended', stop('cancel'))
      await bench.performed('kept', confirm('kill'))
      bench.clock.advance(10)
      const { row } = await bench.performed('appended', confirm('cancel'))
      assert.equal(row.record.stopRequest?.deliveredAt, bench.clock.now())
      await bench.performed('kept', confirm('cancel'))
      const { row: stronger } = await bench.performed('appended', stop('kill'))
      assert.equal(stronger.record.stopRequest?.deliveredAt, undefined)
      assert.deepEqual(await bench.row(pid), stronger)
      assert.deepEqual(await bench.eventTypes(pid), [
        'registered',
        'stop_requested',
        'stop_delivered',
        'stop_requested',
      ])
    },
  )

  behaves('an external process that is gone counts as cancelled if a stop had reached it', async (bench) => {
    const process = { osPid: 4, startTime: '9', boot: 'b', host: 'h', pidNamespace: 'pid:[1]' }
    const tracked = { kind: 'external', spec: { process } } as const
    const gone = async (target: string): Promise<Asking> => {
      const { holder, fence } = await bench.row(target)
      return { type: 'abandon', pid: target, observed: { holder, fence }, evidence: 'process_gone' }
    }
    const stop = (target: string): Asking => ({
      type: 'stop',
      pid: target,
      how: 'kill',
      reason: 'not needed',
      cause: null,
      replayKey: 's',
    })
    const [other, unreached] = [pidOf('b'), pidOf('c')]
    for (const one of [pid, other, unreached]) await bench.register(tracked, { pid: one })
    assert.equal((await bench.row(pid)).record.status, 'running')
    await bench.performed('appended', stop(pid))
    await bench.performed('appended', { type: 'confirm_stop', pid, delivered: { how: 'kill', by: 'signal' } })
    const { row } = await bench.performed('appended', await gone(pid))
    assert.deepEqual(
      [row.record.outcome?.status, row.record.outcome?.reason, row.record.outcome?.evidence],
      ['cancelled', 'not needed', 'process_gone'],
    )
    await bench.performed('appended', stop(unreached))
    for (const one of [other, unreached]) {
      const { outcome } = (await bench.performed('appended', await gone(one))).row.record
      assert.deepEqual(
        [outcome?.status, outcome?.evidence, outcome?.exitCode],
        ['abandoned', 'process_gone', null],
      )
    }
  })

  behaves('of ten completions at once exactly one wins, 200 times over', async (bench) => {
    const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    await repeat(200, async (round) => {
      const raced = pidOf(`r${round}`)
      await bench.register(OUTSIDE, { pid: raced })
      const answers = await Promise.all(
        times(10).map((racer) =>
          bench.perform(
            { ...end({ status: 'completed', result: racer }, `racer ${racer}`), pid: raced } as Asking,
            edges[racer % 3],
          ),
        ),
      )
      const won = answers.flatMap((answer, racer) => (answer.type === 'appended' ? [racer] : []))
      assert.equal(won.length, 1, `round ${round}: ${won.length} completions were accepted`)
      for (const answer of answers)
        assert.ok(
          answer.type === 'appended' ||
            (answer.type === 'refused' && answer.refusal.code === 'already_ended'),
        )
      assert.equal((await bench.row(raced)).record.outcome?.result, won[0])
    })
  })

  behaves('ten retries of one completion at once are one event and nine repeats', async (bench) => {
    const edges = [bench.edges, bench.edgesOver(await bench.open())]
    await repeat(50, async (round) => {
      const raced = pidOf(`r${round}`)
      await bench.register(OUTSIDE, { pid: raced })
      const retry = { ...end({ status: 'completed', result: 'same' }, 'one key'), pid: raced } as Asking
      const answers = await Promise.all(times(10).map((racer) => bench.perform(retry, edges[racer % 2])))
      const types = answers.map(({ type }) => type).sort()
      assert.deepEqual(types, ['appended', ...times(9).map(() => 'replayed')])
    })
  })
}
