import assert from 'node:assert/strict'
import type { Json } from '../../core/json/json.ts'
import type { Answered } from '../../kernel/await-answer.ts'
import type { Script } from '../test-kernel.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, RERUNNABLE, times } from './bench.ts'
import { passTimeUntil } from './recovery.ts'
import { snapshotOf } from './sound.ts'

/** Waits for signals of these names one after another, and ends with their values. */
export function takes(...names: readonly string[]): Script {
  return async (work, kernel) => {
    const got: Json[] = []
    const counts = new Map<string, number>()
    for (const name of names) {
      const ordinal = (counts.get(name) ?? 0) + 1
      counts.set(name, ordinal)
      got.push(said(await kernel.waits.forAnswer(work, { on: 'signal', name, ordinal }, null)))
    }
    return { status: 'completed', result: got }
  }
}

function said(answered: Answered): Json {
  return answered.type === 'answered' ? answered.value : answered.type
}

export function signals(behaves: Behaves): void {
  const pid = pidOf('a')
  const send = (bench: Bench, name: string, value: Json, id = JSON.stringify(value)) =>
    bench.perform({ type: 'signal', pid, name, id, value })
  const resultOf = async (bench: Bench, kernel: Awaited<ReturnType<Bench['kernel']>>) => {
    await kernel.kernel.waits.forEnd(pid, {})
    return (await bench.row(pid)).record.outcome?.result
  }
  const waitingFor = async (bench: Bench, ordinal: number) => {
    const other = await bench.kernel({ id: `k_watch${ordinal}`, serves: [] })
    await other.kernel.waits.forEvent(
      pid,
      0,
      ({ type, payload }) => type === 'wait_entered' && (payload as { ordinal: number }).ordinal === ordinal,
      {},
    )
  }

  behaves('the n-th wait on a name gets the n-th signal of that name, sent before', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    for (const [name, value] of [
      ['go', 1],
      ['stay', 'a'],
      ['go', 2],
      ['stay', 'b'],
    ] as const)
      await send(bench, name, value)
    const kernel = await bench.kernel({ id: 'k_one', script: takes('go', 'go', 'stay', 'stay') })
    assert.deepEqual(await resultOf(bench, kernel), [1, 2, 'a', 'b'])
    assert.deepEqual((await bench.row(pid)).record.signals, {
      go: { received: 2, taken: 2, pending: [] },
      stay: { received: 2, taken: 2, pending: [] },
    })
  })

  behaves('the n-th wait on a name gets the n-th signal of that name, sent after', async (bench) => {
    const kernel = await bench.kernel({ id: 'k_one', script: takes('go', 'go') })
    await kernel.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await waitingFor(bench, 1)
    const { record } = await bench.row(pid)
    assert.equal(record.status, 'waiting')
    assert.deepEqual(record.wait, {
      on: 'signal',
      name: 'go',
      ordinal: 1,
      since: bench.clock.now(),
      until: null,
    })
    await send(bench, 'other', 0)
    await send(bench, 'go', 1)
    await waitingFor(bench, 2)
    await send(bench, 'go', 2)
    assert.deepEqual(await resultOf(bench, kernel), [1, 2])
    assert.deepEqual((await bench.row(pid)).record.signals['other'], { received: 1, taken: 0, pending: [4] })
  })

  behaves('a wait that times out consumes no signal', async (bench) => {
    const script: Script = async (work, kernel) => {
      const until = kernel.edges.clock.now() + 1_000
      const first = await kernel.waits.forAnswer(work, { on: 'signal', name: 'go', ordinal: 1 }, until)
      const second = await kernel.waits.forAnswer(work, { on: 'signal', name: 'go', ordinal: 2 }, null)
      return { status: 'completed', result: [said(first), said(second)] }
    }
    const kernel = await bench.kernel({ id: 'k_one', script })
    await kernel.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await passTimeUntil(bench, waitingFor(bench, 2))
    await send(bench, 'go', 'the first there is')
    assert.deepEqual(await resultOf(bench, kernel), ['timed_out', 'the first there is'])
  })

  behaves('a repeated signal id is one signal, and with another value a conflict', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    assert.equal((await send(bench, 'go', 1, 'id')).type, 'appended')
    const before = await snapshotOf(bench.store)
    assert.equal((await send(bench, 'go', 1, 'id')).type, 'replayed')
    await bench.refused('replay_conflict', { type: 'signal', pid, name: 'go', id: 'id', value: 2 })
    assert.deepEqual(await snapshotOf(bench.store), before)
    assert.equal((await send(bench, 'stop', 1, 'id')).type, 'appended')
  })

  behaves('signals beyond the limit of pending ones are refused', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    for (const value of times(100)) assert.equal((await send(bench, 'go', value)).type, 'appended')
    await bench.refused('signals_full', { type: 'signal', pid, name: 'go', id: 'more', value: 0 })
    assert.equal((await send(bench, 'stay', 0)).type, 'appended')
  })

  behaves('signals may have the names of properties that every object has', async (bench) => {
    const names = ['constructor', '__proto__', 'hasOwnProperty', 'toString']
    await bench.register(RERUNNABLE, { pid })
    for (const name of names) assert.equal((await send(bench, name, name)).type, 'appended')
    const kernel = await bench.kernel({ id: 'k_one', script: takes(...names) })
    assert.deepEqual(await resultOf(bench, kernel), names)
  })

  behaves('a later attempt gets the same signals as the first one, and goes on from there', async (bench) => {
    const one = await bench.kernel({ id: 'k_one', script: takes('go', 'go') })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await send(bench, 'go', 'first')
    await waitingFor(bench, 2)
    bench.kill(one)
    await send(bench, 'go', 'second')
    const two = await bench.kernel({ id: 'k_two', script: takes('go', 'go') })
    assert.deepEqual(await resultOf(bench, two), ['first', 'second'])
  })

  behaves('a wait goes on after its kernel closed in order', async (bench) => {
    const one = await bench.kernel({ id: 'k_one', script: takes('go') })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await waitingFor(bench, 1)
    await one.kernel.close()
    const two = await bench.kernel({ id: 'k_two', script: takes('go') })
    await two.kernel.waits.forEvent(pid, 4, ({ type }) => type === 'wait_entered' || type === 'ended', {})
    await send(bench, 'go', 'at last')
    assert.deepEqual(await resultOf(bench, two), ['at last'])
  })

  behaves('the timeout of the first attempt holds for later ones', async (bench) => {
    const sleeps: Script = async (work, kernel) => {
      const until = kernel.edges.clock.now() + 10_000
      await kernel.waits.forAnswer(work, { on: 'timer', name: 'sleep', ordinal: 1 }, until)
      return { status: 'completed' }
    }
    const begunAt = bench.clock.now()
    const one = await bench.kernel({ id: 'k_one', script: sleeps })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await waitingFor(bench, 1)
    bench.clock.advance(8_000)
    bench.kill(one)
    const two = await bench.kernel({ id: 'k_two', script: sleeps })
    await passTimeUntil(bench, two.kernel.waits.forEnd(pid, {}))
    const waits = (await bench.events(pid)).filter(({ type }) => type.startsWith('wait_'))
    assert.deepEqual(
      waits.map(({ type, payload }) => [type, (payload as { until?: number }).until]),
      [
        ['wait_entered', begunAt + 10_000],
        ['wait_entered', begunAt + 10_000],
        ['wait_left', undefined],
      ],
    )
    assert.ok((waits[2]?.at ?? 0) >= begunAt + 10_000)
  })
}
