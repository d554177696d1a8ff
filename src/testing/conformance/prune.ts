import assert from 'node:assert/strict'
import { claim } from '../../kernel/claim.ts'
import { grant } from '../../kernel/grants.ts'
import { prune } from '../../kernel/prune.ts'
import { openSession } from '../../kernel/sessions.ts'
import {
  accepted,
  type Behaves,
  type Bench,
  codeOf,
  OUTSIDE,
  pidOf,
  refusalOf,
  TOOL,
  times,
} from './bench.ts'
import { snapshotOf } from './sound.ts'

export function pruning(behaves: Behaves): void {
  const abandon = (bench: Bench, text: string) =>
    bench.performed('appended', { type: 'request_abandon', pid: pidOf(text), reason: 'gone' })
  const endedOneAfterAnother = async (bench: Bench, texts: readonly string[]) => {
    for (const text of texts) await bench.register(OUTSIDE, { pid: pidOf(text) })
    for (const text of [...texts].reverse()) {
      bench.clock.advance(1_000)
      await abandon(bench, text)
    }
  }

  behaves('the age of a process is counted from its end', async (bench) => {
    await endedOneAfterAnother(bench, ['a', 'b', 'c'])
    await bench.register(OUTSIDE, { pid: pidOf('live') })
    const endedBefore = bench.clock.now()
    assert.deepEqual(await prune(bench.edges, { endedBefore: endedBefore - 5_000 }), [])
    assert.deepEqual(await prune(bench.edges, { endedBefore }), [pidOf('c'), pidOf('b')])
    assert.deepEqual(await prune(bench.edges, { endedBefore: endedBefore + 1 }), [pidOf('a')])
    bench.clock.advance(10 ** 9)
    assert.deepEqual(await prune(bench.edges, { endedBefore: bench.clock.now(), keep: 0 }), [])
    assert.equal((await bench.row(pidOf('live'))).record.status, 'queued')
  })

  behaves('beyond a number to keep, the processes that ended first are pruned first', async (bench) => {
    await endedOneAfterAnother(bench, ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(await prune(bench.edges, { keep: 5 }), [])
    assert.deepEqual(await prune(bench.edges, { keep: 3 }), [pidOf('e'), pidOf('d')])
    assert.deepEqual(await prune(bench.edges, { endedBefore: 0, keep: 2 }), [pidOf('c')])
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('b'), pidOf('a')])
  })

  behaves('ended processes are counted, with the time of the oldest end', async (bench) => {
    const storage = async () => {
      const { ended, oldestEndedAt } = await bench.store.ask({ ask: 'storage' })
      return { ended, oldestEndedAt }
    }
    await bench.register(OUTSIDE, { pid: pidOf('live') })
    assert.deepEqual(await storage(), { ended: 0, oldestEndedAt: null })
    await endedOneAfterAnother(bench, ['a', 'b'])
    const endedAt = bench.clock.now()
    assert.deepEqual(await storage(), { ended: 2, oldestEndedAt: endedAt - 1_000 })
    await prune(bench.edges, { keep: 1 })
    assert.deepEqual(await storage(), { ended: 1, oldestEndedAt: endedAt })
  })

  behaves('more than a page is pruned', async (bench) => {
    const pids = times(450).map((index) => pidOf(`n${index}`))
    accepted(await bench.tryRegister(pids.map((pid) => ({ pid, request: TOOL }))))
    await Promise.all(times(450).map((index) => abandon(bench, `n${index}`)))
    const pruned = await prune(bench.edges, { keep: 10 })
    assert.equal(pruned.length, 440)
    const { items } = await bench.store.ask({
      ask: 'processes',
      filter: { status: 'any' },
      after: null,
      limit: 1_000,
    })
    assert.equal(items.length, 10)
  })

  behaves('a tombstone keeps the fence and refuses the pid', async (bench) => {
    const pid = pidOf('a')
    await bench.register(TOOL, { pid })
    await claim(bench.edges, pid, 'k_one')
    const fence = { holder: 'k_one', fence: 1 }
    await bench.performed('appended', { type: 'release', pid, fence })
    await claim(bench.edges, pid, 'k_two')
    const ending = { status: 'completed' } as const
    const end = { type: 'end', pid, ending, replayKey: 'e', fence: { holder: 'k_two', fence: 2 } } as const
    await bench.performed('appended', end)
    const endedAt = bench.clock.now()
    bench.clock.advance(10)
    await prune(bench.edges, { keep: 0 })
    assert.deepEqual(await bench.store.ask({ ask: 'tombstone', pid }), {
      pid,
      fence: 2,
      endedAt,
      prunedAt: endedAt + 10,
    })
    const before = await snapshotOf(bench.store)
    assert.equal(refusalOf(await bench.tryRegister([{ pid, request: TOOL }])), 'pruned_pid')
    await bench.refused('pruned_pid', { type: 'pause', pid })
    const claimed = await claim(bench.edges, pid, 'k_two')
    assert.equal(claimed.type === 'refused' && claimed.refusal.code, 'pruned_pid')
    assert.deepEqual(await snapshotOf(bench.store), before)
    assert.equal(await bench.store.ask({ ask: 'tombstone', pid: pidOf('unknown') }), null)
  })

  behaves(
    'everything that belongs to a pruned process is removed with it, and nothing else',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const request = { ...OUTSIDE, owner: { session: 's1' }, name: 'web' }
      for (const text of ['a', 'b']) {
        await bench.register(request, { pid: pidOf(text) })
        await grant(bench.edges, 'host', 's1', [pidOf(text)], null)
        await abandon(bench, text)
        bench.clock.advance(1_000)
      }
      await prune(bench.edges, { pids: [pidOf('a')] })
      assert.equal(await bench.store.ask({ ask: 'process', pid: pidOf('a') }), null)
      assert.deepEqual(await bench.events(pidOf('a')), [])
      const left = async (items: Promise<readonly { pid: string }[]>) => (await items).map(({ pid }) => pid)
      assert.deepEqual(await left(bench.store.ask({ ask: 'grants', session: 's1' })), [pidOf('b')])
      const notices = bench.store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 10 })
      assert.deepEqual(await left(notices), [pidOf('b')])
      assert.deepEqual(await bench.store.ask({ ask: 'pids', prefix: 'p_a', limit: 10 }), [])
    },
  )

  behaves('a process whose stop has yet to be carried on is kept until then', async (bench) => {
    await bench.register(TOOL, { pid: pidOf('a') })
    await bench.register({ ...TOOL, parent: pidOf('a') }, { pid: pidOf('b') })
    const stop = {
      type: 'stop',
      pid: pidOf('a'),
      how: 'cancel',
      reason: 'r',
      cause: null,
      replayKey: 's',
    } as const
    await bench.performed('appended', stop)
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [])
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.waits.forEnd(pidOf('b'), {})
    await kernel.close()
    assert.deepEqual((await prune(bench.edges, { keep: 0 })).sort(), [pidOf('a'), pidOf('b')])
  })

  behaves(
    'a follower behind the pruned position is refused, and one that starts from the beginning is not',
    async (bench) => {
      await endedOneAfterAnother(bench, ['a', 'b'])
      await bench.register(OUTSIDE, { pid: pidOf('live') })
      await prune(bench.edges, { keep: 1 })
      const { events, prunedThrough } = await bench.store.ask({ ask: 'changes', after: 0, limit: 100 })
      assert.deepEqual(
        events.map(({ pid, type }) => [pid, type]),
        [
          [pidOf('a'), 'registered'],
          [pidOf('a'), 'abandon_requested'],
          [pidOf('a'), 'ended'],
          [pidOf('live'), 'registered'],
        ],
      )
      assert.equal(prunedThrough, 4, 'the last position that was pruned')
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const first = async (after: number) => (await kernel.follow(after, () => true).next()).value
      assert.equal(await codeOf(first(1)), 'behind_pruned')
      assert.equal((await first(0))?.pid, pidOf('a'))
      assert.equal((await first(4))?.pid, pidOf('a'))
    },
  )
}
