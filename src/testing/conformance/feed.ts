import assert from 'node:assert/strict'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { type Behaves, codeOf, OUTSIDE, pidOf, RERUNNABLE, times } from './bench.ts'
import { passTimeUntil } from './recovery.ts'
import { allChanges } from './sound.ts'

/** Followers and waiters miss nothing and get nothing twice, however many connections write meanwhile. */
export function feed(behaves: Behaves): void {
  behaves('a follower sees every event once and in order while several connections write', async (bench) => {
    const writers = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    const followers = await Promise.all(
      times(2).map((index) => bench.kernel({ id: `k_follower${index}`, serves: [] })),
    )
    const total = 3 * 100 * 2
    const following = followers.map(({ kernel }) => take(kernel, 0, total))
    await Promise.all(
      writers.map(async (edges, writer) => {
        for (const index of times(100)) {
          const pid = pidOf(`w${writer}n${index}`)
          await bench.register(OUTSIDE, { pid }, edges)
          await bench.performed('appended', { type: 'change_cwd', pid, cwd: '/' }, edges)
        }
      }),
    )
    const all = await allChanges(bench.store)
    assert.equal(all.length, total)
    for (const seen of await Promise.all(following)) assert.deepEqual(seen, all)
    const later = await bench.kernel({ id: 'k_later', serves: [] })
    const middle = all[299]?.position ?? 0
    assert.deepEqual(await take(later.kernel, middle, 300), all.slice(300))
  })

  behaves(
    'a listener of the feed that subscribes amid writes gets every event that it did not read',
    async (bench) => {
      const writer = bench.edgesOver(await bench.open())
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const writing = (async () => {
        for (const index of times(200)) await bench.register(OUTSIDE, { pid: pidOf(`n${index}`) }, writer)
      })()
      for (const round of times(20)) {
        const pid = pidOf(`n${round * 10}`)
        const waited = await bench.store.ask({ ask: 'process', pid }).then(async (row) => {
          if (row === null) return null
          return kernel.waits.forEvent(pid, 0, ({ type }) => type === 'registered', {})
        })
        assert.ok(waited === null || (waited.type === 'done' && waited.value?.pid === pid))
      }
      await writing
      const followed = await take(kernel, 0, 200)
      assert.deepEqual(
        followed.map(({ pid }) => pid),
        times(200).map((index) => pidOf(`n${index}`)),
      )
    },
  )

  behaves(
    'a waiter gets an end that another connection writes, or that was written before',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one' })
      const two = await bench.kernel({ id: 'k_two', serves: [] })
      for (const round of times(30)) {
        const pid = pidOf(`r${round}`)
        await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
        await one.begun(pid)
        const waiting = two.kernel.waits.forEnd(pid, {})
        one.finish(pid, { status: 'completed', result: round })
        for (const ended of [await waiting, await two.kernel.waits.forEnd(pid, {})])
          assert.equal(ended.type === 'done' && ended.value.record.outcome?.result, round)
      }
    },
  )

  behaves(
    'a wait that times out or is aborted gets an answer, and does not change the process',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const pid = pidOf('a')
      await bench.register(OUTSIDE, { pid })
      const before = await bench.row(pid)
      const late = await passTimeUntil(bench, kernel.waits.forEnd(pid, { timeoutMs: 1_000 }))
      assert.deepEqual(late, { type: 'timed_out' })
      const controller = new AbortController()
      const called = kernel.waits.forEnd(pid, { signal: controller.signal })
      controller.abort()
      assert.deepEqual(await called, { type: 'interrupted' })
      assert.deepEqual(await kernel.waits.forEnd(pid, { signal: AbortSignal.abort() }), {
        type: 'interrupted',
      })
      assert.equal(await codeOf(kernel.waits.forEnd(pidOf('unknown'), {})), 'unknown_pid')
      assert.deepEqual(await bench.row(pid), before)
    },
  )

  behaves(
    'a wait for an event includes earlier events after the given seq, and ends with the process',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const pid = pidOf('a')
      await bench.register(OUTSIDE, { pid })
      const change = (cwd: string) => bench.performed('appended', { type: 'change_cwd', pid, cwd })
      const next = (after: number) =>
        kernel.waits.forEvent(pid, after, ({ type }) => type === 'cwd_changed', {})
      await change('/1')
      const seqOf = (waited: Awaited<ReturnType<typeof next>>) =>
        waited.type === 'done' ? (waited.value?.seq ?? null) : waited.type
      assert.equal(seqOf(await next(0)), 2)
      const third = next(2)
      await change('/2')
      assert.equal(seqOf(await third), 3)
      const never = next(3)
      await bench.performed('appended', { type: 'request_abandon', pid, reason: 'gone' })
      assert.equal(seqOf(await never), null)
    },
  )
}

async function take(kernel: Kernel, after: number, count: number): Promise<StoredEvent[]> {
  const seen: StoredEvent[] = []
  for await (const event of kernel.follow(after, () => true)) {
    seen.push(event)
    if (seen.length === count) break
  }
  return seen
}
