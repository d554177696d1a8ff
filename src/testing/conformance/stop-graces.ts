import assert from 'node:assert/strict'
import { StoreError } from '../../core/errors.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import type { Plan, Store } from '../../store/contract.ts'
import { type Asking, type Behaves, type Bench, OUTSIDE, pidOf, RERUNNABLE } from './bench.ts'
import { snapshotOf } from './sound.ts'

const DEFAULT_GRACE_MS = 30_000

/** Code that was asked to stop and ignores it. */
export function stopGraces(behaves: Behaves): void {
  const pid = pidOf('a')
  const cancel = (graceMs?: number): Asking => ({
    type: 'stop',
    pid,
    how: 'cancel',
    reason: 'enough',
    cause: null,
    replayKey: `stop:${graceMs}`,
    ...(graceMs === undefined ? {} : { graceMs }),
  })

  /** A kernel whose code neither ends nor reacts until the test releases it. */
  const deafKernel = async (bench: Bench, request: RegistrationRequest = RERUNNABLE) => {
    const late = Promise.withResolvers<{ status: 'completed'; result: string }>()
    const script = () => late.promise
    const { kernel, begun } = await bench.kernel({ id: 'k_one', script })
    const [registered] = await kernel.register([{ request, actor: 'host', pid }])
    assert.equal(registered?.type, 'registered')
    const work = await begun(pid)
    return { kernel, work, late }
  }

  behaves(
    'a process whose code ignores a cancel ends as cancelled after the grace, with the evidence that its stop was not seen',
    async (bench) => {
      const { kernel, late, work } = await deafKernel(bench)
      const { row } = await bench.performed('appended', cancel())
      assert.equal(row.record.status, 'stopping')
      await aborted(work.signal)
      const ended = kernel.waits.forEnd(pid, {})
      bench.clock.advance(DEFAULT_GRACE_MS - 1)
      assert.equal((await bench.row(pid)).record.outcome, null)
      bench.clock.advance(1)
      const waited = await ended
      assert.equal(waited.type, 'done')
      const { outcome, status } = (await bench.row(pid)).record
      assert.equal(status, 'cancelled')
      assert.deepEqual(
        [outcome?.reason, outcome?.source, outcome?.evidence, outcome?.result],
        ['enough', 'host', 'not_seen_to_stop', null],
      )
      assert.equal((await bench.row(pid)).holder, null)
      assert.deepEqual(kernel.executing, [])
      const before = [await bench.row(pid), await bench.events(pid)]
      late.resolve({ status: 'completed', result: 'too late' })
      await kernel.close()
      assert.deepEqual([await bench.row(pid), await bench.events(pid)], before)
    },
  )

  behaves('code that stops within its grace ends with its own outcome', async (bench) => {
    const { kernel, late, work } = await deafKernel(bench)
    await bench.performed('appended', cancel())
    await aborted(work.signal)
    bench.clock.advance(DEFAULT_GRACE_MS - 1)
    late.resolve({ status: 'completed', result: 'tidied up' })
    const waited = await kernel.waits.forEnd(pid, {})
    assert.equal(waited.type, 'done')
    bench.clock.advance(DEFAULT_GRACE_MS)
    const { outcome } = (await bench.row(pid)).record
    assert.deepEqual([outcome?.status, outcome?.result, outcome?.evidence], ['completed', 'tidied up', null])
    await kernel.close()
  })

  behaves('a stop that was requested before its process was found has its grace, too', async (bench) => {
    const lossy = losingAnswers(await bench.open())
    const script = () => new Promise<never>(() => undefined)
    const { kernel, begun } = await bench.kernel({ id: 'k_one', script }, lossy.store)
    lossy.loseNext()
    const registering = kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await assert.rejects(registering, { code: 'outcome_unknown' })
    await bench.performed('appended', cancel())
    // The kernel receives it before it finds the process, so only the record has the stop.
    await kernel.waits.forEvent(pid, 0, ({ type }) => type === 'stop_requested', {})
    await kernel.sweep()
    await aborted((await begun(pid)).signal)
    const ended = kernel.waits.forEnd(pid, {})
    bench.clock.advance(DEFAULT_GRACE_MS)
    assert.equal((await ended).type, 'done')
    assert.equal((await bench.row(pid)).record.outcome?.evidence, 'not_seen_to_stop')
  })

  behaves('a stop is given up only under its fence and after its own grace', async (bench) => {
    const { row } = await held(bench, pid, RERUNNABLE)
    const fence = { holder: 'k_else', fence: row.fence }
    const giveUp: Asking = { type: 'give_up_stop', pid, fence }
    await bench.refused('conflict', giveUp)
    await bench.performed('appended', cancel(500))
    const before = await snapshotOf(bench.store)
    await bench.refused('stopping', giveUp)
    bench.clock.advance(499)
    await bench.refused('stopping', giveUp)
    bench.clock.advance(1)
    await bench.refused('stale_fence', { ...giveUp, fence: { ...fence, fence: fence.fence - 1 } })
    await bench.refused('stale_fence', { ...giveUp, fence: { ...fence, holder: 'k_stranger' } })
    assert.deepEqual(await snapshotOf(bench.store), before)
    const given = await bench.performed('appended', giveUp)
    assert.equal(given.row.record.outcome?.evidence, 'not_seen_to_stop')
    await bench.refused('already_ended', giveUp)
    await bench.refused('already_ended', {
      type: 'end',
      pid,
      ending: { status: 'completed', result: 'late' },
      replayKey: `end:${fence.fence}`,
      fence,
    })
  })

  behaves(
    'a stop with a grace of 0, and a stop of an external process, are never given up',
    async (bench) => {
      const { row } = await held(bench, pid, RERUNNABLE)
      await bench.performed('appended', cancel(0))
      bench.clock.advance(10 * DEFAULT_GRACE_MS)
      await bench.refused('stopping', {
        type: 'give_up_stop',
        pid,
        fence: { holder: 'k_else', fence: row.fence },
      })
      const other = pidOf('b')
      await bench.register(OUTSIDE, { pid: other })
      await bench.performed('appended', { ...cancel(1), pid: other })
      bench.clock.advance(DEFAULT_GRACE_MS)
      await bench.refused('stale_fence', {
        type: 'give_up_stop',
        pid: other,
        fence: { holder: 'k_else', fence: 1 },
      })
    },
  )
}

/** A store that commits the next registration and then reports an unknown outcome. */
function losingAnswers(inner: Store): { readonly store: Store; loseNext(): void } {
  let losing = false
  const write = async <Answer>(plan: Plan<Answer>): Promise<Answer> => {
    let registers = false
    const answer = await inner.write<Answer>(function* () {
      const verdict = yield* plan()
      registers = verdict.changes.some((change) => change.type === 'process' && change.was === null)
      return verdict
    })
    if (!losing || !registers) return answer
    losing = false
    throw new StoreError('outcome_unknown', 'The connection was cut.', 'Look whether it was written.')
  }
  const store = new Proxy(inner, {
    get(target, key) {
      if (key === 'write') return write
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    store,
    loseNext: () => {
      losing = true
    },
  }
}

/** Resolves when the kernel has received the stop. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Registers a process whose holder does not run, so that nothing happens by itself. */
async function held(bench: Bench, pid: string, request: RegistrationRequest) {
  await bench.announce('k_else', 10_000_000)
  const row = await bench.register(request, { pid, startBy: 'k_else' })
  return { row }
}
