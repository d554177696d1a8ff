import assert from 'node:assert/strict'
import { claim } from '../../kernel/claim.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { recover } from '../../kernel/recover.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, RERUNNABLE, TOOL, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

const NOTHING = { checked: [], adopted: [], rerun: [], completed: [], abandoned: [], left: [] }

/** The recovery of a process whose holder died: every verdict, with the executions counted. */
export function recovery(behaves: Behaves): void {
  const pid = pidOf('a')
  const begin = async (bench: Bench, request = RERUNNABLE, id = 'k_one') => {
    const kernel = await bench.kernel({ id })
    await kernel.kernel.register([{ request, actor: 'host', pid }])
    await kernel.begun(pid)
    return kernel
  }

  behaves(
    'a rerunnable process is run again, once, by the kernel that finds its holder dead',
    async (bench) => {
      const one = await begin(bench)
      bench.kill(one)
      assert.deepEqual(await look(bench), { ...NOTHING, checked: [pid], rerun: [pid] })
      assert.deepEqual(await look(bench), NOTHING)
      const two = await bench.kernel({ id: 'k_two' })
      const work = await two.begun(pid)
      assert.equal(work.record.attempts, 2)
      assert.deepEqual(work.fence(), { holder: 'k_two', fence: 2 })
      two.finish(pid, { status: 'completed', result: 'second' })
      const ended = await two.kernel.waits.forEnd(pid, {})
      assert.equal(ended.type === 'done' && ended.value.record.outcome?.result, 'second')
      assert.deepEqual([one.executions(pid), two.executions(pid)], [1, 1])
      assert.deepEqual(await bench.eventTypes(pid), [
        'registered',
        'started',
        'holder_lost',
        'started',
        'ended',
      ])
    },
  )

  behaves('a bound process that was started is never run again', async (bench) => {
    const one = await begin(bench, TOOL)
    bench.kill(one)
    assert.deepEqual(await look(bench), { ...NOTHING, checked: [pid], abandoned: [pid] })
    const two = await bench.kernel({ id: 'k_two' })
    const { record, holder, fence } = await bench.row(pid)
    assert.deepEqual(
      [record.outcome?.status, record.outcome?.evidence, record.outcome?.reason],
      ['abandoned', 'holder_dead', 'holder_dead'],
    )
    assert.deepEqual([holder, fence, two.executions(pid)], [null, 1, 0])
  })

  behaves('a bound process that was not started is run, and that is its first start', async (bench) => {
    await bench.register(TOOL, { pid })
    await bench.announce('k_dead', 60_000)
    await claim(bench.edges, pid, 'k_dead')
    bench.proof('k_dead', 'dead')
    const two = await bench.kernel({ id: 'k_two' })
    await two.begun(pid)
    two.finish(pid)
    await two.kernel.waits.forEnd(pid, {})
    const { record } = await bench.row(pid)
    assert.deepEqual([record.firstStarted?.holder, record.attempts, two.executions(pid)], ['k_two', 1, 1])
  })

  behaves('an external process is not recovered', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    const serves = [{ kind: 'external', targets: null }] as const
    const kernel = await bench.kernel({ id: 'k_one', serves })
    const before = await snapshotOf(bench.store)
    assert.deepEqual(await look(bench), NOTHING)
    assert.deepEqual(await snapshotOf(bench.store), before)
    assert.equal(kernel.executions(pid), 0)
  })

  behaves(
    'a command is left to the kernel of its keeper, and the row of its holder is kept',
    async (bench) => {
      await bench.register({ kind: 'command', spec: { run: 'sleep 1' } }, { pid })
      await bench.announce('keeper_1', -1)
      await claim(bench.edges, pid, 'keeper_1')
      assert.deepEqual(await look(bench), { ...NOTHING, checked: [pid], left: [pid] })
      assert.equal((await bench.row(pid)).holder, 'keeper_1')
      assert.ok(await bench.store.ask({ ask: 'holder', id: 'keeper_1' }))
    },
  )

  behaves('after its last attempt a process has failed, and is not started again', async (bench) => {
    const one = await begin(bench, { ...RERUNNABLE, limits: { attempts: 2 } })
    bench.kill(one)
    const two = await bench.kernel({ id: 'k_two' })
    await two.begun(pid)
    bench.kill(two)
    const three = await bench.kernel({ id: 'k_three' })
    const ended = await three.kernel.waits.forEnd(pid, {})
    assert.ok(ended.type === 'done')
    assert.deepEqual(
      [ended.value.record.outcome?.status, ended.value.record.outcome?.reason],
      ['failed', 'attempts_exhausted'],
    )
    assert.deepEqual(
      [one, two, three].map((kernel) => kernel.executions(pid)),
      [1, 1, 0],
    )
  })

  behaves('the first loss has no delay, and later ones double it, within the jitter', async (bench) => {
    let kernel = await begin(bench, { ...RERUNNABLE, limits: { attempts: 9 } })
    const waits: number[] = []
    for (const round of times(4)) {
      bench.kill(kernel)
      const lostAt = bench.clock.now()
      await look(bench)
      const { retryAt } = (await bench.row(pid)).record
      waits.push((retryAt ?? 0) - lostAt)
      kernel = await bench.kernel({ id: `k_next${round}` })
      const begun = await passTimeUntil(bench, kernel.begun(pid))
      assert.equal(begun.record.attempts, round + 2)
      const started = (await bench.events(pid)).at(-1)
      assert.ok(started?.type === 'started' && started.at >= (retryAt ?? 0), 'not before its time')
    }
    assert.equal(waits[0], 0)
    for (const [index, longest] of [1_000, 2_000, 4_000].entries()) {
      const wait = waits[index + 1] ?? 0
      assert.ok(wait >= longest / 2 && wait <= longest, `${wait} ms of at most ${longest} ms`)
    }
  })

  behaves('a stop whose executor died is settled as the end of the process', async (bench) => {
    const deaf = { script: () => new Promise<never>(() => {}) }
    const one = await bench.kernel({ id: 'k_one', ...deaf })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await one.begun(pid)
    await stop(one.kernel, pid, 'no longer wanted')
    assert.equal((await bench.row(pid)).record.status, 'stopping')
    bench.kill(one)
    assert.deepEqual(await look(bench), { ...NOTHING, checked: [pid], completed: [pid] })
    const two = await bench.kernel({ id: 'k_two' })
    const { outcome } = (await bench.row(pid)).record
    assert.deepEqual(
      [outcome?.status, outcome?.reason, outcome?.source],
      ['cancelled', 'no longer wanted', 'host'],
    )
    assert.equal(two.executions(pid), 0)
  })

  behaves(
    'a stop of a process that was claimed but not started is settled, too, when its holder died',
    async (bench) => {
      await bench.register(TOOL, { pid })
      await bench.announce('k_dead', 60_000)
      await claim(bench.edges, pid, 'k_dead')
      const asked = {
        type: 'stop',
        pid,
        how: 'cancel',
        reason: 'enough',
        cause: null,
        replayKey: 's',
      } as const
      await bench.performed('appended', asked)
      bench.proof('k_dead', 'dead')
      const two = await bench.kernel({ id: 'k_two' })
      const ended = await two.kernel.waits.forEnd(pid, {})
      assert.equal(ended.type === 'done' && ended.value.record.outcome?.status, 'cancelled')
      assert.equal(two.executions(pid), 0)
    },
  )

  behaves(
    'one recovery reads every page of a dead holder’s processes, and removes its row',
    async (bench) => {
      const pids = times(450).map((index) => pidOf(`m${index}`))
      await bench.tryRegister(pids.map((each) => ({ pid: each, request: RERUNNABLE })))
      await bench.announce('k_dead', -1)
      const claims = await Promise.all(pids.map((each) => claim(bench.edges, each, 'k_dead')))
      assert.ok(claims.every(({ type }) => type === 'granted'))
      assert.deepEqual(await look(bench), { ...NOTHING, checked: pids, rerun: pids })
      assert.equal(await bench.store.ask({ ask: 'holder', id: 'k_dead' }), null)
    },
  )

  behaves('when two kernels recover at once, each process is run again by one of them', async (bench) => {
    const pids = times(450).map((index) => pidOf(`m${index}`))
    const done = { script: async () => ({ status: 'completed' }) as const, concurrency: 50 }
    const one = await bench.kernel({ id: 'k_one', concurrency: 1_000 })
    await one.kernel.register(pids.map((each) => ({ request: RERUNNABLE, actor: 'host', pid: each })))
    await Promise.all(pids.map((each) => one.begun(each)))
    bench.kill(one)
    const two = await bench.kernel({ id: 'k_two', ...done })
    const three = await bench.kernel({ id: 'k_three', ...done })
    await Promise.all([two.kernel.sweep(), three.kernel.sweep()])
    await Promise.all(pids.map((each) => two.kernel.waits.forEnd(each, {})))
    assert.deepEqual(
      pids.map((each) => two.executions(each) + three.executions(each)),
      pids.map(() => 1),
    )
    assert.deepEqual(
      (await bench.store.ask({ ask: 'holders' })).map(({ id }) => id),
      ['k_three', 'k_two'],
    )
  })
}

/** One recovery by a kernel that executes nothing. */
function look(bench: Bench) {
  return recover(bench.edges, {
    self: 'k_looker',
    backoff: { baseMs: 1_000, maxMs: 60_000 },
    closed: () => false,
  })
}

const STEP_MS = 50

/** Lets simulated time pass in small steps until the condition holds. */
export async function passTimeUntil<Thing>(bench: Bench, happens: Promise<Thing>): Promise<Thing> {
  let over = false
  const done = happens.finally(() => {
    over = true
  })
  while (!over) {
    // A turn of the loop between two steps, so that pending messages arrive first.
    await new Promise<void>((resolve) => void setImmediate(resolve))
    await bench.store.ask({ ask: 'holders' })
    if (!over) bench.clock.advance(STEP_MS)
  }
  return done
}

export async function stop(
  kernel: Kernel,
  pid: string,
  reason: string,
  how: 'cancel' | 'kill' | 'interrupt' = 'cancel',
) {
  const at = kernel.edges.clock.now()
  const replayKey = `${how}:${pid}`
  return kernel.perform({ type: 'stop', pid, how, reason, cause: null, replayKey, actor: 'host', at })
}
