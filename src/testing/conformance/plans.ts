import assert from 'node:assert/strict'
import { ReeveError } from '../../core/errors.ts'
import type { Session } from '../../core/session/session.ts'
import { type Commit, know, type Plan, unchanged } from '../../store/contract.ts'
import { type Behaves, OUTSIDE, pidOf, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

/** The contract itself: plans, batches, notifications of commits, closed connections. */
export function plans(behaves: Behaves): void {
  behaves(
    'a plan sees the changes of the plans before it, also in the same turn of the loop',
    async (bench) => {
      const seen = await Promise.all(times(10).map(() => bench.store.write(countUp)))
      assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    },
  )

  behaves('plans on several connections are each decided on what the others committed', async (bench) => {
    const stores = [bench.store, await bench.open(), await bench.open()]
    const counts = await Promise.all(
      times(60).map((index) => stores[index % 3]?.write(countUp) ?? Promise.reject(new Error('no store'))),
    )
    assert.deepEqual(
      counts.sort((a, b) => a - b),
      times(60).map((index) => index + 1),
    )
  })

  behaves('a plan that throws rejects its caller alone and changes nothing', async (bench) => {
    const defect = new Error('a defect of this plan')
    const answers = await Promise.allSettled([
      bench.store.write(countUp),
      bench.store.write(function* () {
        yield* know({ ask: 'session', id: 'counter' })
        throw defect
      }),
      bench.store.write(countUp),
    ])
    assert.deepEqual(answers, [
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: defect },
      { status: 'fulfilled', value: 2 },
    ])
  })

  behaves('an impossible change rejects its whole plan, and no other plan of the batch', async (bench) => {
    const row = await bench.register(OUTSIDE, { pid: pidOf('a') })
    const before = await snapshotOf(bench.store)
    const again = bench.store.write(function* () {
      yield []
      const session = counter(100)
      return {
        answer: 'both',
        changes: [
          { type: 'session', was: null, session },
          { type: 'process', was: null, row, events: [] },
        ],
      }
    })
    const [refused, neighbour] = await Promise.allSettled([again, bench.store.write(() => nothing('fine'))])
    assert.equal(refused.status, 'rejected')
    assert.deepEqual(neighbour, { status: 'fulfilled', value: 'fine' })
    assert.deepEqual(await snapshotOf(bench.store), before)
    assert.equal(await bench.store.write(countUp), 1)
  })

  behaves('several questions at once are answered in their order', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    const known = await bench.store.write(function* () {
      const answers = yield [
        { ask: 'process', pid: pidOf('unknown') },
        { ask: 'pids', prefix: 'p_a', limit: 10 },
        { ask: 'session', id: 'none' },
      ]
      return { answer: answers, changes: [] }
    })
    assert.deepEqual(known, [null, [pidOf('a')], null])
  })

  behaves('listeners get every commit with its events and the last position before it', async (bench) => {
    const commits: Commit[] = []
    const stop = bench.store.onCommit((commit) => commits.push(commit))
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.performed('appended', { type: 'change_cwd', pid: pidOf('a'), cwd: '/tmp' })
    stop()
    await bench.performed('appended', { type: 'change_cwd', pid: pidOf('a'), cwd: '/' })
    const own = commits.filter(({ events }) => events !== null)
    assert.deepEqual(
      own.map(({ after, position, events }) => [after, position, events?.map(({ type }) => type)]),
      [
        [0, 1, ['registered']],
        [1, 2, ['cwd_changed']],
      ],
    )
  })

  behaves('listeners on one connection are nudged by a commit on another', async (bench) => {
    const other = await bench.open()
    const { promise: heard, resolve } = Promise.withResolvers<void>()
    const stop = other.onCommit(({ position }) => position >= 1 && resolve())
    await bench.register()
    await heard
    stop()
    const { events } = await other.ask({ ask: 'changes', after: 0, limit: 10 })
    assert.deepEqual(
      events.map(({ type }) => type),
      ['registered'],
    )
  })

  behaves('a close commits earlier writes, and rejects later ones', async (bench) => {
    const other = await bench.open()
    const written = bench.register(OUTSIDE, { pid: pidOf('last') }, bench.edgesOver(other))
    await other.close()
    assert.equal((await written).record.pid, pidOf('last'))
    assert.equal((await bench.row(pidOf('last'))).record.status, 'queued')
    await assert.rejects(other.write(countUp), isClosed)
    await assert.rejects(other.ask({ ask: 'holders' }), isClosed)
    await other.close()
  })

  behaves('every connection reads the same secret', async (bench) => {
    const other = await bench.open()
    const secret = await bench.store.ask({ ask: 'secret' })
    assert.ok(secret.length >= 32)
    assert.equal(await other.ask({ ask: 'secret' }), secret)
  })
}

/** Reads, adds one, and writes: shows whether a plan's facts still held when it was committed. */
const countUp: Plan<number> = function* () {
  const was = yield* know({ ask: 'session', id: 'counter' })
  const count = (was?.touchedAt ?? 0) + 1
  return { answer: count, changes: [{ type: 'session', was, session: counter(count) }] }
}

function counter(count: number): Session {
  return {
    id: 'counter',
    label: null,
    openedAt: 0,
    touchedAt: count,
    endedAt: null,
    deleted: false,
    carry: false,
  }
}

function* nothing<Answer>(answer: Answer) {
  yield []
  return unchanged(answer)
}

function isClosed(error: unknown): boolean {
  return error instanceof ReeveError && error.code === 'closed'
}
