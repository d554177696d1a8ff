import assert from 'node:assert/strict'
import type { WaitRef } from '../../core/process/intent.ts'
import { type Asking, type Behaves, type Bench, pidOf, RERUNNABLE, TOOL } from './bench.ts'
import { stop } from './recovery.ts'
import { takes } from './signals.ts'
import { snapshotOf } from './sound.ts'

/** One-shot keys, pauses, and waits that end early. */
export function answers(behaves: Behaves): void {
  const pid = pidOf('a')
  const wait: WaitRef = { on: 'signal', name: 'go', ordinal: 1 }
  const waiting = async (bench: Bench, script = takes('go')) => {
    const kernel = await bench.kernel({ id: 'k_one', script })
    await kernel.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await kernel.kernel.waits.forEvent(pid, 0, ({ type }) => type === 'wait_entered', {})
    return kernel
  }

  behaves('a key answers its wait once, from any connection', async (bench) => {
    const one = await waiting(bench)
    const two = await bench.kernel({ id: 'k_two', serves: [] })
    const key = await one.kernel.waits.keyOf(pid, wait)
    assert.equal(await two.kernel.waits.keyOf(pid, wait), key)
    const answers = await Promise.all([
      one.kernel.waits.answer('host', key, 'first'),
      two.kernel.waits.answer('host', key, 'second'),
      one.kernel.waits.answer('host', key, 'third'),
    ])
    assert.deepEqual(answers.sort(), ['accepted', 'already_resolved', 'already_resolved'])
    await one.kernel.waits.forEnd(pid, {})
    assert.equal(await two.kernel.waits.answer('host', key, 'late'), 'already_resolved')
    const { outcome, signals } = (await bench.row(pid)).record
    assert.ok(Array.isArray(outcome?.result) && outcome.result.length === 1)
    assert.deepEqual(signals, {}, 'no signal was consumed')
  })

  behaves('a forged or modified key answers no wait', async (bench) => {
    const one = await waiting(bench)
    const key = await one.kernel.waits.keyOf(pid, wait)
    const before = await snapshotOf(bench.store)
    const second = key.replace('.go.1.', '.go.2.')
    const otherEnd = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
    for (const forged of ['', 'nonsense', key.slice(0, -4), second, otherEnd, key.toUpperCase()])
      assert.equal(await one.kernel.waits.answer('host', forged, 'forged'), 'unknown', forged)
    const elsewhere = await one.kernel.waits.keyOf(pidOf('unknown'), wait)
    assert.equal(await one.kernel.waits.answer('host', elsewhere, 'no process waits'), 'unknown')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('after a signal has ended a wait, its key is resolved, too', async (bench) => {
    const one = await waiting(bench)
    const key = await one.kernel.waits.keyOf(pid, wait)
    await bench.performed('appended', { type: 'signal', pid, name: 'go', id: '1', value: 'signalled' })
    assert.equal(await one.kernel.waits.answer('host', key, 'too late'), 'already_resolved')
    await one.kernel.waits.forEnd(pid, {})
    assert.deepEqual((await bench.row(pid)).record.outcome?.result, ['signalled'])
  })

  behaves('an answer may arrive before its wait, and is not lost between two attempts', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    const asker = await bench.kernel({ id: 'k_asker', serves: [] })
    const first = await asker.kernel.waits.keyOf(pid, wait)
    assert.equal(await asker.kernel.waits.answer('host', first, 'early'), 'accepted')
    assert.equal(await asker.kernel.waits.answer('host', first, 'again'), 'already_resolved')
    const one = await bench.kernel({ id: 'k_one', script: takes('go', 'go') })
    await asker.kernel.waits.forEvent(pid, 0, ({ type }) => type === 'wait_entered', {})
    bench.kill(one)
    const second = await asker.kernel.waits.keyOf(pid, { ...wait, ordinal: 2 })
    assert.equal(await asker.kernel.waits.answer('host', second, 'meanwhile'), 'accepted')
    const two = await bench.kernel({ id: 'k_two', script: takes('go', 'go') })
    await two.kernel.waits.forEnd(pid, {})
    assert.deepEqual((await bench.row(pid)).record.outcome?.result, ['early', 'meanwhile'])
  })

  behaves(
    'a resumed process has its former status, also if its wait ended during the pause',
    async (bench) => {
      const one = await waiting(bench, async (work, kernel) => {
        await kernel.waits.forAnswer(work, wait, null)
        return new Promise<never>(() => {})
      })
      const status = async () => {
        const { record } = await bench.row(pid)
        return [record.status, record.pausedFrom, record.wait?.name ?? null]
      }
      await bench.performed('appended', { type: 'pause', pid })
      await bench.performed('kept', { type: 'pause', pid })
      assert.deepEqual(await status(), ['paused', 'waiting', 'go'])
      await bench.performed('appended', { type: 'resume', pid })
      assert.deepEqual(await status(), ['waiting', null, 'go'])
      await bench.refused('not_paused', { type: 'resume', pid })
      await bench.performed('appended', { type: 'pause', pid })
      await bench.performed('appended', { type: 'signal', pid, name: 'go', id: '1', value: 1 })
      assert.deepEqual(await status(), ['paused', 'running', null])
      await bench.performed('appended', { type: 'resume', pid })
      assert.deepEqual(await status(), ['running', null, null])
      await stop(one.kernel, pid, 'enough')
      await bench.refused('stopping', { type: 'pause', pid })
    },
  )

  behaves('a paused process that enters a wait stays paused', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register([{ request: TOOL, actor: 'host', pid }])
    const work = await one.begun(pid)
    await bench.performed('appended', { type: 'pause', pid })
    const enter: Asking = { type: 'enter_wait', pid, wait, until: null, fence: work.fence() }
    await bench.performed('appended', enter)
    const { record } = await bench.row(pid)
    assert.deepEqual([record.status, record.pausedFrom, record.wait?.name], ['paused', 'waiting', 'go'])
    await bench.performed('appended', { type: 'resume', pid })
    assert.equal((await bench.row(pid)).record.status, 'waiting')
  })

  behaves('a process waits for one thing at a time', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register([{ request: TOOL, actor: 'host', pid }])
    const fence = (await one.begun(pid)).fence()
    const enter = (name: string): Asking => ({
      type: 'enter_wait',
      pid,
      wait: { ...wait, name },
      until: null,
      fence,
    })
    await bench.performed('appended', enter('go'))
    await bench.performed('kept', enter('go'))
    await bench.refused('conflict', enter('stay'))
    const leave: Asking = { type: 'leave_wait', pid, wait, how: 'timed_out', value: null, fence }
    await bench.performed('appended', leave)
    await bench.performed('replayed', leave)
    await bench.performed('replayed', enter('go'))
    await bench.performed('appended', enter('stay'))
  })

  behaves('a stop wakes a waiting process', async (bench) => {
    const one = await waiting(bench)
    await stop(one.kernel, pid, 'changed my mind')
    const ended = await one.kernel.waits.forEnd(pid, {})
    assert.ok(ended.type === 'done')
    const { status, reason, source } = ended.value.record.outcome ?? {}
    assert.deepEqual(
      { status, reason, source },
      { status: 'cancelled', reason: 'changed my mind', source: 'host' },
    )
  })
}
