import assert from 'node:assert/strict'
import type { Ending } from '../../core/process/intent.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Schedule, ScheduleDefinition } from '../../core/schedule/schedule.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { openSession } from '../../kernel/sessions.ts'
import type { TestKernel } from '../test-kernel.ts'
import { type Behaves, type Bench, codeOf, TOOL, times } from './bench.ts'

const HOUR = 3_600_000

export function schedules(behaves: Behaves): void {
  behaves('schedules are listed in the order of their ids, and a removed one is gone', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one' })
    for (const id of ['c', 'a', 'b']) await kernel.schedules.add('host', id, hourly())
    const ids = async (after: string | null, limit: number) =>
      (await bench.store.ask({ ask: 'schedules', after, limit })).map(({ id }) => id)
    assert.deepEqual(await ids(null, 10), ['a', 'b', 'c'])
    assert.deepEqual(await ids('a', 1), ['b'])
    await kernel.schedules.remove('host', 'b')
    assert.deepEqual(await ids(null, 10), ['a', 'c'])
    assert.equal(await bench.store.ask({ ask: 'schedule', id: 'b' }), null)
    assert.deepEqual(await bench.store.ask({ ask: 'schedules', open: true, after: null, limit: 10 }), [])
  })

  behaves(
    'the next occurrence is a queued process, and an added schedule may be added again',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k_one' })
      const schedule = await kernel.schedules.add('host', 'nightly', hourly())
      assert.deepEqual(await kernel.schedules.add('host', 'nightly', hourly()), schedule)
      assert.equal(
        await codeOf(kernel.schedules.add('host', 'nightly', hourly({ overlap: 'queue' }))),
        'conflict',
      )
      const { record } = await bench.row(pidOfNext(schedule))
      assert.equal(record.status, 'queued')
      assert.equal(record.retryAt, bench.clock.now() + HOUR)
      assert.deepEqual(record.causedBy, { schedule: 'nightly', scheduledAt: bench.clock.now() + HOUR })
      assert.deepEqual(record.owner, { session: 'schedule:nightly' })
      assert.equal(await running(bench), 1)
    },
  )

  behaves('the end of an occurrence registers the next one, in the same commit', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const first = pidOfNext(await one.kernel.schedules.add('host', 'nightly', hourly()))
    bench.clock.advance(HOUR)
    await one.begun(first)
    assert.equal((await stored(bench)).next, null)
    one.finish(first)
    await ended(one, first)
    const second = await stored(bench)
    assert.equal(second.next?.at, bench.clock.now() + HOUR)
    assert.equal((await bench.row(pidOfNext(second))).record.status, 'queued')
    const positions = [await bench.events(first), await bench.events(pidOfNext(second))]
    assert.equal(Number(positions[1]?.[0]?.position) - Number(positions[0]?.at(-1)?.position), 1)
    assert.deepEqual(second.counts, { started: 1, skipped: 0, missed: 0, failed: 0 })
  })

  behaves('two kernels start each occurrence once', async (bench) => {
    const [one, two] = [await bench.kernel({ id: 'k_one' }), await bench.kernel({ id: 'k_two' })]
    let schedule = await one.kernel.schedules.add('host', 'nightly', hourly())
    for (const round of times(3)) {
      const pid = pidOfNext(schedule)
      bench.clock.advance(HOUR)
      const holder = await Promise.race([one, two].map((each) => each.begun(pid).then(() => each)))
      holder.finish(pid)
      await ended(holder, pid)
      assert.equal(one.executions(pid) + two.executions(pid), 1)
      schedule = await stored(bench)
      assert.equal(schedule.counts.started, round + 1)
    }
  })

  behaves(
    'racing claims of one due occurrence start it once, and plan one next occurrence',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const pid = pidOfNext(await kernel.schedules.add('host', 'nightly', hourly({ overlap: 'allow' })))
      const edges = await Promise.all(times(4).map(async () => bench.edgesOver(await bench.open())))
      bench.clock.advance(HOUR)
      const granted = await Promise.all(edges.map((each, index) => claimAndStart(each, [pid], `k_${index}`)))
      assert.equal(granted.flat().length, 1)
      const { next, running: started } = await stored(bench)
      assert.deepEqual(
        started.map((each) => each.pid),
        [pid],
      )
      assert.equal(next?.at, bench.clock.now() + HOUR)
      assert.equal(await running(bench), 2)
    },
  )

  behaves('times that pass during a run are skipped, queued, or the latest is kept', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const start = bench.clock.now()
    const ran = async (overlap: ScheduleDefinition['overlap']): Promise<number[]> => {
      const from = bench.clock.now()
      const first = pidOfNext(await one.kernel.schedules.add('host', overlap, hourly({ overlap })))
      bench.clock.advance(HOUR)
      await one.begun(first)
      bench.clock.advance(3.5 * HOUR)
      one.finish(first)
      await ended(one, first)
      const runs: number[] = []
      for (;;) {
        // The kernel may have started it already.
        const { next, running: started } = await stored(bench, overlap)
        const occurrence = next ?? started[0]
        if (occurrence === undefined || occurrence.at > bench.clock.now()) break
        runs.push((occurrence.at - from) / HOUR)
        await one.begun(occurrence.pid)
        one.finish(occurrence.pid)
        await ended(one, occurrence.pid)
      }
      await one.kernel.schedules.remove('host', overlap)
      return runs
    }
    assert.deepEqual(await ran('skip'), [])
    assert.deepEqual(await ran('queue'), [2, 3, 4])
    assert.deepEqual(await ran('bufferOne'), [4])
    assert.ok(bench.clock.now() > start)
  })

  behaves('with cancelOther an occurrence stops the one before, with allow both run', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const pids: Record<string, Pid[]> = {}
    for (const overlap of ['cancelOther', 'allow'] as const)
      pids[overlap] = [pidOfNext(await one.kernel.schedules.add('host', overlap, hourly({ overlap })))]
    for (const _ of times(2)) {
      bench.clock.advance(HOUR)
      for (const overlap of ['cancelOther', 'allow']) {
        await one.begun(pids[overlap]?.at(-1) ?? '')
        pids[overlap]?.push(pidOfNext(await stored(bench, overlap)))
      }
    }
    const [cancelled = '', other = ''] = pids['cancelOther'] ?? []
    await ended(one, cancelled)
    assert.equal((await bench.row(cancelled)).record.outcome?.status, 'cancelled')
    assert.equal((await bench.row(other)).record.status, 'running')
    const { running: both } = await stored(bench, 'allow')
    assert.equal(both.length, 2)
  })

  behaves('after a time without a kernel the latest missed time runs, once', async (bench) => {
    const first = await bench.kernel({ id: 'k_one' })
    const schedule = await first.kernel.schedules.add('host', 'nightly', hourly())
    bench.kill(first)
    bench.clock.advance(3 * HOUR + HOUR / 2)
    const two = await bench.kernel({ id: 'k_two' })
    await ended(two, pidOfNext(schedule))
    assert.equal((await bench.row(pidOfNext(schedule))).record.outcome?.reason, 'schedule_missed')
    const caughtUp = await stored(bench)
    const pid = caughtUp.next?.pid ?? caughtUp.running[0]?.pid ?? ''
    await two.begun(pid)
    assert.equal((await stored(bench)).running[0]?.at, bench.clock.now() - HOUR / 2)
    two.finish(pid)
    await ended(two, pid)
    const after = await stored(bench)
    assert.equal(after.next?.at, bench.clock.now() + HOUR / 2)
    assert.equal(after.counts.started, 1)
  })

  behaves('a clock that jumps runs no time twice', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const first = pidOfNext(await one.kernel.schedules.add('host', 'nightly', hourly()))
    bench.clock.advance(HOUR)
    await one.begun(first)
    bench.clock.jump(-2 * HOUR)
    one.finish(first)
    await ended(one, first)
    const { next, decidedThrough } = await stored(bench)
    assert.ok(Number(next?.at) > decidedThrough)
    bench.clock.jump(2 * HOUR)
    bench.clock.advance(HOUR)
    await one.kernel.sweep()
    await one.begun(next?.pid ?? '')
    assert.equal((await stored(bench)).counts.started, 2)
  })

  behaves('an edit while an occurrence is due runs it once, as edited', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    const before = pidOfNext(await kernel.schedules.add('host', 'nightly', hourly()))
    bench.clock.advance(HOUR)
    const edited = await kernel.schedules.edit('host', 'nightly', {
      request: { kind: 'tool', spec: { tool: 'work', input: 'edited' } },
    })
    assert.equal((await bench.row(before)).record.outcome?.reason, 'schedule_edited')
    assert.equal(edited.next?.at, bench.clock.now())
    const granted = await claimAndStart(bench.edges, [before, pidOfNext(edited)], 'k_two')
    assert.deepEqual(
      granted.map(({ record }) => record.spec),
      [{ tool: 'work', input: 'edited' }],
    )
    const { counts, next } = await stored(bench)
    assert.deepEqual([counts.started, next], [1, null])
  })

  behaves('an edit while an occurrence is due and another runs starts none beside it', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const first = pidOfNext(await one.kernel.schedules.add('host', 'nightly', hourly({ overlap: 'allow' })))
    bench.clock.advance(HOUR)
    await one.begun(first)
    const due = pidOfNext(await stored(bench))
    bench.kill(one)
    bench.clock.advance(HOUR)
    const { kernel } = await bench.kernel({ id: 'k_two', serves: [] })
    const edited = await kernel.schedules.edit('host', 'nightly', { overlap: 'queue' })
    assert.equal((await bench.row(due)).record.outcome?.reason, 'schedule_edited')
    assert.equal(edited.next, null)
    assert.deepEqual(
      edited.running.map(({ pid }) => pid),
      [first],
    )
    const cancelled = { type: 'stop', how: 'cancel', reason: 'x', cause: null, replayKey: 's' } as const
    await kernel.sweep()
    await kernel.perform({ ...cancelled, pid: first, actor: 'host', at: bench.clock.now() })
    assert.equal((await stored(bench)).next?.at, bench.clock.now())
  })

  behaves('a paused schedule starts nothing, and a resumed one catches up with nothing', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const first = pidOfNext(await one.kernel.schedules.add('host', 'nightly', hourly()))
    const paused = await one.kernel.schedules.pause('host', 'nightly', 'holidays')
    assert.deepEqual(paused.paused, { at: bench.clock.now(), by: 'host', note: 'holidays' })
    assert.equal((await bench.row(first)).record.outcome?.status, 'cancelled')
    bench.clock.advance(5.5 * HOUR)
    const resumed = await one.kernel.schedules.resume('host', 'nightly')
    assert.equal(resumed.next?.at, bench.clock.now() + HOUR / 2)
    assert.equal(one.executions(first), 0)
  })

  behaves('a time that is still to come runs after a pause and a resume', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const added = await one.kernel.schedules.add('host', 'nightly', hourly())
    for (let round = 0; round < 2; round++) {
      await one.kernel.schedules.pause('host', 'nightly', null)
      const { next } = await one.kernel.schedules.resume('host', 'nightly')
      assert.equal(next?.at, added.next?.at)
    }
    const again = pidOfNext(await stored(bench))
    bench.clock.advance(HOUR)
    await one.begun(again)
    one.finish(again)
    await ended(one, again)
  })

  behaves('a failed occurrence pauses its schedule, if it is to', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const fail: Ending = { status: 'failed', reason: 'no disk' }
    const first = pidOfNext(
      await one.kernel.schedules.add('host', 'nightly', hourly({ pauseOnFailure: true })),
    )
    bench.clock.advance(HOUR)
    await one.begun(first)
    one.finish(first, fail)
    await ended(one, first)
    const { paused, next } = await stored(bench)
    assert.equal(paused?.note, `${first} failed: no disk`)
    assert.equal(next, null)
  })

  behaves(
    'jitter delays each time, also beyond the catch-up window, and ends before the next time',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one' })
      const start = bench.clock.now()
      const jittered = hourly({ jitterMs: 10 * HOUR, catchUpMs: 60_000, overlap: 'allow' })
      await one.kernel.schedules.add('host', 'nightly', jittered)
      const delays: number[] = []
      for (let hour = 1; hour <= 6; hour++) {
        const { next } = await stored(bench)
        assert.equal(next?.at, start + hour * HOUR)
        const { record } = await bench.row(next.pid)
        const dueAt = Number(record.retryAt)
        delays.push(dueAt - next.at)
        bench.clock.advance(dueAt - bench.clock.now())
        await one.begun(next.pid)
      }
      assert.deepEqual((await stored(bench)).counts, { started: 6, skipped: 0, missed: 0, failed: 0 })
      assert.ok(delays.every((delay) => delay >= 0 && delay < HOUR))
      assert.ok(new Set(delays).size > 1 && delays.some((delay) => delay > 60_000))
    },
  )

  behaves('a run now leaves the schedule as it was, whatever becomes of it', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const added = await one.kernel.schedules.add('host', 'nightly', hourly({ pauseOnFailure: true }))
    const { record } = await one.kernel.schedules.run('host', 'nightly', 'now')
    const again = await one.kernel.schedules.run('host', 'nightly', 'now')
    assert.equal(again.record.pid, record.pid)
    await one.begun(record.pid)
    assert.deepEqual(await stored(bench), added)
    // It still runs when the next time comes.
    const first = pidOfNext(added)
    bench.clock.advance(HOUR)
    await one.begun(first)
    one.finish(record.pid, { status: 'failed', reason: 'no disk' })
    await ended(one, record.pid)
    one.finish(first)
    await ended(one, first)
    const { paused, counts, next } = await stored(bench)
    assert.deepEqual([paused, counts.started, counts.failed], [null, 1, 0])
    assert.equal(next?.at, bench.clock.now() + HOUR)
  })

  behaves('a backfill with the overlap allow runs its times at once, beside the schedule', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const start = bench.clock.now()
    await one.kernel.schedules.add('host', 'nightly', hourly())
    await one.kernel.schedules.pause('host', 'nightly', null)
    bench.clock.advance(3.5 * HOUR)
    const { next } = await one.kernel.schedules.resume('host', 'nightly')
    const asked = { from: start, until: bench.clock.now(), overlap: 'allow' } as const
    for (let round = 0; round < 2; round++) await one.kernel.schedules.backfill('host', 'nightly', asked)
    assert.equal(await running(bench), 3)
    assert.deepEqual((await stored(bench)).next, next)
  })

  behaves('a backfill runs past times one after the other, and none that has run', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const start = bench.clock.now()
    await one.kernel.schedules.add('host', 'nightly', hourly())
    await one.kernel.schedules.pause('host', 'nightly', null)
    bench.clock.advance(3.5 * HOUR)
    await one.kernel.schedules.resume('host', 'nightly')
    const asked = { from: start, until: bench.clock.now(), overlap: 'queue' } as const
    await one.kernel.schedules.backfill('host', 'nightly', asked)
    assert.equal(await codeOf(one.kernel.schedules.backfill('host', 'nightly', asked)), 'busy')
    const ran: number[] = []
    for (;;) {
      const { backfill } = await stored(bench)
      if (backfill === null) break
      ran.push((backfill.at - start) / HOUR)
      await one.begun(backfill.pid)
      one.finish(backfill.pid)
      await ended(one, backfill.pid)
    }
    // The first time was registered before the pause, which cancelled it.
    assert.deepEqual(ran, [2, 3])
    await one.kernel.schedules.backfill('host', 'nightly', asked)
    assert.equal((await stored(bench)).backfill, null)
    assert.equal(
      await codeOf(one.kernel.schedules.backfill('host', 'nightly', { ...asked, until: start + 9 * HOUR })),
      'invalid_input',
    )
  })

  behaves('a session acts on its own schedules, and on no others', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one' })
    for (const id of ['s1', 's2']) await openSession(bench.edges, 'host', id, null)
    const schedule = await kernel.schedules.add('session:s1', 'mine', hourly())
    const { record } = await bench.row(pidOfNext(schedule))
    assert.deepEqual([record.originator, record.sessionsAbove], ['session:schedule:mine', ['s1']])
    assert.equal(await codeOf(kernel.schedules.pause('session:s2', 'mine', null)), 'denied')
    assert.equal(await codeOf(kernel.schedules.remove('session:s2', 'mine')), 'denied')
    assert.equal(await codeOf(kernel.schedules.show('session:s2', 'mine')), 'denied')
    // The audit has the denials; the schedule is as before.
    assert.deepEqual(await kernel.schedules.show('session:s1', 'mine'), schedule)
  })

  behaves('a schedule whose session has ended pauses, and says why', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await openSession(bench.edges, 'host', 's1', null)
    const first = pidOfNext(await one.kernel.schedules.add('session:s1', 'mine', hourly()))
    await one.kernel.sessions.end('host', 's1')
    await ended(one, first)
    const { paused, next } = await stored(bench, 'mine')
    assert.equal(next, null)
    assert.equal(paused?.note, 'The session schedule:mine has ended.')
  })
}

function hourly(more: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    times: { type: 'every', everyMs: HOUR },
    jitterMs: 0,
    overlap: 'skip',
    catchUpMs: HOUR,
    pauseOnFailure: false,
    request: TOOL,
    ...more,
  }
}

function pidOfNext({ id, next }: Schedule): Pid {
  assert.ok(next, `${id} has a next occurrence`)
  return next.pid
}

async function stored(bench: Bench, id = 'nightly'): Promise<Schedule> {
  const schedule = await bench.store.ask({ ask: 'schedule', id })
  assert.ok(schedule, `${id} is stored`)
  return schedule
}

async function ended({ kernel }: TestKernel, pid: Pid): Promise<void> {
  await kernel.waits.forEnd(pid, {})
}

async function running(bench: Bench): Promise<number> {
  return (await bench.store.ask({ ask: 'activity', session: null, since: null })).live
}
