import assert from 'node:assert/strict'
import { Stopped } from '../../kernel/attempt.ts'
import { claim } from '../../kernel/claim.ts'
import { recover } from '../../kernel/recover.ts'
import { type Behaves, OUTSIDE, pidOf, RERUNNABLE, TOOL, times } from './bench.ts'

/** Holders that are silent, come back, or close in order; and requests to abandon processes. */
export function lapses(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves('a holder that is only silent keeps its leases', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await one.begun(pid)
    const two = await bench.kernel({ id: 'k_two' })
    assert.deepEqual((await two.kernel.sweep()).checked, [])
    await bench.announce('k_one', -1)
    bench.proof('k_one', 'alive')
    assert.deepEqual((await two.kernel.sweep()).checked, [], 'expired, but provably alive')
    one.finish(pid, { status: 'completed', result: 'mine' })
    await two.kernel.waits.forEnd(pid, {})
    assert.equal((await bench.row(pid)).record.outcome?.result, 'mine')
  })

  behaves(
    'a live holder whose row lapsed reclaims its processes with fence + 1 and goes on',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one' })
      await one.kernel.register([{ request: TOOL, actor: 'host', pid }])
      const work = await one.begun(pid)
      await bench.announce('k_one', -1)
      await one.kernel.renew()
      assert.deepEqual(work.fence(), { holder: 'k_one', fence: 2 })
      assert.equal((await bench.row(pid)).fence, 2)
      one.finish(pid)
      await one.kernel.waits.forEnd(pid, {})
      assert.equal((await bench.row(pid)).record.outcome?.status, 'completed')
    },
  )

  behaves(
    'a live holder that comes back too late loses the lease, and its end is not written',
    async (bench) => {
      // Its one slot is in use, so it does not claim the recovered process before the second kernel does.
      const one = await bench.kernel({ id: 'k_one', concurrency: 1 })
      await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
      const work = await one.begun(pid)
      await bench.announce('k_one', -1)
      const two = await bench.kernel({ id: 'k_two' })
      await two.begun(pid)
      assert.equal(work.signal.aborted, false)
      await one.kernel.renew()
      assert.ok(work.signal.reason instanceof Stopped)
      assert.equal(work.signal.reason.why, 'lease_lost')
      assert.deepEqual(one.kernel.executing, [])
      two.finish(pid, { status: 'completed', result: 'of the second' })
      await two.kernel.waits.forEnd(pid, {})
      assert.equal((await bench.row(pid)).record.outcome?.result, 'of the second')
    },
  )

  behaves(
    'a kernel that closes in order releases the processes that can move and ends the others',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one' })
      const bound = pidOf('bound')
      await one.kernel.register([
        { request: RERUNNABLE, actor: 'host', pid },
        { request: TOOL, actor: 'host', pid: bound },
      ])
      await Promise.all([one.begun(pid), one.begun(bound)])
      await one.kernel.close()
      assert.equal(await bench.store.ask({ ask: 'holder', id: 'k_one' }), null)
      const moved = await bench.row(pid)
      assert.deepEqual(
        [moved.record.status, moved.holder, moved.fence, moved.record.attempts],
        ['queued', null, 1, 0],
      )
      const { outcome } = (await bench.row(bound)).record
      assert.deepEqual([outcome?.status, outcome?.evidence], ['abandoned', 'holder_drain'])
      const two = await bench.kernel({ id: 'k_two' })
      await two.begun(pid)
      two.finish(pid)
      await two.kernel.waits.forEnd(pid, {})
      assert.deepEqual([one.executions(pid), two.executions(pid)], [1, 1])
    },
  )

  behaves(
    'a process that is registered while its kernel closes is left to other kernels, not lost',
    async (bench) => {
      const store = await bench.open()
      for (const round of times(20)) {
        const each = pidOf(`c${round}`)
        const one = await bench.kernel({ id: `k_closing${round}` }, store)
        const registered = one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid: each }])
        await Promise.all([registered, one.kernel.close()])
      }
      const two = await bench.kernel({ id: 'k_two', script: async () => ({ status: 'completed' }) })
      await two.kernel.sweep()
      for (const round of times(20)) {
        const ended = await two.kernel.waits.forEnd(pidOf(`c${round}`), {})
        assert.equal(ended.type === 'done' && ended.value.record.outcome?.status, 'completed')
      }
    },
  )

  behaves('leases of a holder that never announced itself are recovered', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    await claim(bench.edges, pid, 'k_nobody')
    assert.deepEqual(await bench.store.ask({ ask: 'unannounced' }), ['k_nobody'])
    const one = await bench.kernel({ id: 'k_one' })
    await one.begun(pid)
    assert.deepEqual(await bench.store.ask({ ask: 'unannounced' }), [])
  })

  behaves('a request to abandon a process without a holder ends it at once', async (bench) => {
    for (const [text, request] of [
      ['outside', OUTSIDE],
      ['queued', TOOL],
    ] as const) {
      const asked = { type: 'request_abandon', pid: pidOf(text), reason: 'no holder answers' } as const
      await bench.register(request, { pid: pidOf(text) })
      const { row } = await bench.performed('appended', asked)
      const { status, evidence, reason, source } = row.record.outcome ?? {}
      assert.deepEqual(
        { status, evidence, reason, source },
        { status: 'abandoned', evidence: 'requested', reason: 'no holder answers', source: 'host' },
      )
      await bench.refused('already_ended', asked)
    }
  })

  behaves(
    'a request to abandon a held process waits until the lease lapses, and the first request counts',
    async (bench) => {
      for (const [round, request] of [TOOL, RERUNNABLE].entries()) {
        const each = pidOf(`held${round}`)
        const one = await bench.kernel({ id: `k_one${round}` })
        await one.kernel.register([{ request, actor: 'host', pid: each }])
        await one.begun(each)
        const ask = (reason: string) => ({ type: 'request_abandon', pid: each, reason }) as const
        await bench.performed('appended', ask('first'))
        await bench.performed('kept', ask('second'))
        assert.equal((await bench.row(each)).record.status, 'running')
        const look = () =>
          recover(bench.edges, { self: 'k_looker', backoff: { baseMs: 1, maxMs: 1 }, closed: () => false })
        assert.deepEqual((await look()).abandoned, [], 'its holder is alive')
        bench.kill(one)
        assert.deepEqual((await look()).abandoned, [each])
        const { outcome } = (await bench.row(each)).record
        assert.deepEqual([outcome?.evidence, outcome?.reason], ['requested', 'first'])
      }
    },
  )

  behaves('a process that ends by itself after a request to abandon keeps its own outcome', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register([{ request: TOOL, actor: 'host', pid }])
    await one.begun(pid)
    await bench.performed('appended', { type: 'request_abandon', pid, reason: 'too slow' })
    one.finish(pid)
    await one.kernel.waits.forEnd(pid, {})
    assert.equal((await bench.row(pid)).record.outcome?.status, 'completed')
  })
}
