import assert from 'node:assert/strict'
import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'
import { Stopped } from '../../kernel/attempt.ts'
import { claim, claimAnnounced } from '../../kernel/claim.ts'
import type { Keeping, Request } from '../../kernel/executor.ts'
import { retire } from '../../kernel/holders.ts'
import { removeHolder } from '../../kernel/remove-holder.ts'
import { know, type Plan, type Store } from '../../store/contract.ts'
import { holderNamed } from '../test-kernel.ts'
import { type Behaves, type Bench, codeOf, pidOf, RERUNNABLE, TOOL } from './bench.ts'
import { snapshotBesidesAudit, snapshotOf } from './sound.ts'

/** Holders that an operator declares dead. */
export function removedHolders(behaves: Behaves): void {
  const pid = pidOf('a')
  const bound = pidOf('bound')

  behaves('sweeps leave a silent holder alone, and its removal settles its processes', async (bench) => {
    const one = await silentWith(bench)
    // Frozen: it does not notice its removal.
    one.crash()
    const two = await bench.kernel({ id: 'k_two' })
    assert.deepEqual((await two.kernel.sweep()).checked, [])
    const report = await two.kernel.removeHolder('host', 'k_one', { force: false })
    assert.deepEqual([report.rerun, report.abandoned], [[pid], [bound]])
    await two.begun(pid)
    const { outcome } = (await bench.row(bound)).record
    assert.deepEqual([outcome?.status, outcome?.evidence], ['abandoned', 'holder_dead'])
    assert.equal(await bench.store.ask({ ask: 'holder', id: 'k_one' }), null)
    assert.deepEqual([one.executions(pid), two.executions(pid)], [1, 1])
  })

  behaves(
    'a removed holder writes nothing for its former processes, and goes on under another id',
    async (bench) => {
      const one = await silentWith(bench)
      const works = await Promise.all([one.begun(pid), one.begun(bound)])
      const two = await bench.kernel({ id: 'k_two', serves: [] })
      await two.kernel.removeHolder('host', 'k_one', { force: false })
      for (const work of works) {
        const asked = {
          pid: work.record.pid,
          actor: `process:${work.record.pid}`,
          at: bench.clock.now(),
        } as const
        const ending = { status: 'completed' } as const
        const end = { type: 'end', ...asked, ending, replayKey: 'late', fence: work.fence() } as const
        assert.notEqual(await codeOf(one.kernel.perform(end)), 'accepted')
        const written = await bench.events(work.record.pid)
        assert.equal(
          written.some(({ replayKey }) => replayKey === 'late'),
          false,
        )
      }

      await one.kernel.renew()
      for (const { signal } of works)
        assert.ok(signal.reason instanceof Stopped && signal.reason.why === 'lease_lost')
      assert.equal(one.kernel.id, 'k_one_1')
      assert.equal(await bench.store.ask({ ask: 'holder', id: 'k_one' }), null)
      const other = pidOf('other')
      await one.kernel.register([{ request: TOOL, actor: 'host', pid: other }])
      assert.deepEqual((await one.begun(other)).fence(), { holder: 'k_one_1', fence: 1 })
      one.finish(other)
      await one.kernel.waits.forEnd(other, {})
    },
  )

  behaves('a live holder is removed only by force, and the refusal has the evidence', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await one.begun(pid)
    const two = await bench.kernel({ id: 'k_two', serves: [] })
    for (const proof of ['alive', 'unknown'] as const) {
      bench.proof('k_one', proof)
      const before = await snapshotOf(bench.store)
      await assert.rejects(two.kernel.removeHolder('host', 'k_one', { force: false }), (error) => {
        assert.ok(error instanceof RefusedError)
        assert.equal(error.code, 'holder_alive')
        const { id, osPid, host, proof: known } = error.details
        assert.deepEqual([id, osPid, host, known], ['k_one', 1, 'test-host', proof])
        return true
      })
      assert.deepEqual(await snapshotOf(bench.store), before)
    }
    assert.deepEqual((await two.kernel.removeHolder('host', 'k_one', { force: true })).rerun, [pid])
    // The holder may have noticed by now, and claimed the process again under another id.
    assert.notEqual((await bench.row(pid)).holder, 'k_one')
  })

  behaves('a removed holder claims nothing before it has noticed', async (bench) => {
    await bench.announce('k_one', 60_000)
    await bench.register(RERUNNABLE, { pid })
    const two = await bench.kernel({ id: 'k_two', serves: [] })
    await two.kernel.removeHolder('host', 'k_one', { force: true })
    const claimant = { holder: 'k_one', here: [] }
    assert.equal(await claimAnnounced(bench.edges, [pid], claimant), 'unannounced')
    assert.equal((await bench.row(pid)).holder, null)
  })

  behaves('a removed holder starts no process that it registers before it has noticed', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    assert.equal((await one.begun(pid)).fence().holder, 'k_one')
    const two = await bench.kernel({ id: 'k_two', serves: [] })
    await two.kernel.removeHolder('host', 'k_one', { force: true })
    const late = [pidOf('late'), pidOf('later')]
    await one.kernel.register([{ request: TOOL, actor: 'host', pid: pidOf('late') }])
    await one.kernel.register(late.map((each) => ({ request: TOOL, actor: 'host', pid: each })))
    for (const each of late) {
      assert.deepEqual((await one.begun(each)).fence(), { holder: 'k_one_1', fence: 1 })
      assert.equal(one.executions(each), 1)
      const started = (await bench.events(each)).filter(({ type }) => type === 'started')
      assert.deepEqual(
        started.map(({ payload }) => payload),
        [{ holder: 'k_one_1', attempt: 1 }],
      )
    }
  })

  behaves('a holder is announced while it has a row, valid or not', async (bench) => {
    const announced = () =>
      bench.store.write(function* () {
        return { answer: yield* know({ ask: 'announced', id: 'k_one' }), changes: [] }
      })
    assert.deepEqual(
      [await announced(), await bench.store.ask({ ask: 'announced', id: 'k_one' })],
      [false, false],
    )
    await bench.announce('k_one', 60_000)
    assert.deepEqual(
      [await announced(), await bench.store.ask({ ask: 'announced', id: 'k_one' })],
      [true, true],
    )
    await bench.announce('k_one', -1)
    assert.equal(await announced(), true)
    await retire(bench.edges, 'k_one')
    assert.deepEqual(
      [await announced(), await bench.store.ask({ ask: 'announced', id: 'k_one' })],
      [false, false],
    )
  })

  behaves('an unknown holder is not removed, and a session removes none', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    await bench.announce('k_other', 60_000)
    const before = await snapshotBesidesAudit(bench.store)
    assert.equal(await codeOf(one.kernel.removeHolder('host', 'k_none', { force: true })), 'not_found')
    assert.equal(await codeOf(one.kernel.removeHolder('session:s1', 'k_other', { force: true })), 'denied')
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
  })

  behaves('the processes of a holder without a row are settled, too', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    await claim(bench.edges, pid, 'k_gone')
    const one = await bench.kernel({ id: 'k_one', serves: [] })
    await one.kernel.removeHolder('host', 'k_gone', { force: false })
    assert.equal((await bench.row(pid)).holder, null)
  })

  behaves(
    'the commands of a removed keeper are abandoned, and their programs are ended when it comes back',
    async (bench) => {
      const { one, asked } = await runningCommand(bench)
      const two = await bench.kernel({ id: 'k_two', serves: [] })
      assert.equal(await codeOf(two.kernel.removeHolder('host', 'kp_one', { force: false })), 'holder_alive')
      const { abandoned } = await two.kernel.removeHolder('host', 'kp_one', { force: true })
      assert.deepEqual(abandoned, [pid])
      const { outcome } = (await bench.row(pid)).record
      assert.deepEqual([outcome?.status, outcome?.evidence], ['abandoned', 'keeper_lost'])
      await one.kernel.renew()
      assert.deepEqual(
        asked.map((request) => [request.type, request.type === 'stop' && request.how]),
        [['stop', 'kill']],
      )
      assert.equal((await bench.store.ask({ ask: 'holder', id: 'kp_one' }))?.role, 'keeper')
    },
  )

  behaves(
    'a keeper that comes back before its commands are settled ends them, and keeps those that it started since then',
    async (bench) => {
      const { one, asked } = await runningCommand(bench)
      const later = pidOf('later')
      const store = afterFirstWrite(bench.store, async () => {
        await one.kernel.renew()
        await one.kernel.register([{ request: SLEEP, actor: 'host', pid: later }])
        await one.begun(later)
        assert.deepEqual(asked, [])
      })
      const recovering = { self: 'k_two', backoff: { baseMs: 1, maxMs: 1 }, closed: () => false }
      const report = await removeHolder(bench.edgesOver(store), recovering, 'kp_one', { force: true })
      assert.deepEqual('abandoned' in report && report.abandoned, [pid])
      while (asked.length === 0) await new Promise(setImmediate)
      assert.deepEqual(
        asked.map((request) => [request.type, request.type === 'stop' && request.how]),
        [['stop', 'kill']],
      )
      const row = await bench.row(later)
      assert.deepEqual([row.holder, row.record.status], ['kp_one', 'running'])
    },
  )
}

const COMMANDS = [{ kind: 'command', targets: null }] as const
const SLEEP = { kind: 'command', spec: { argv: ['sleep'] } } as const
const KEEPING: Keeping = {
  holder: { ...holderNamed('kp_one'), role: 'keeper', incarnation: 'home' },
  available: true,
  most: 10,
  full: refusal('too_many_commands', 'Full.', 'Wait.'),
  found: () => 'adopted',
}

/** A kernel that runs one command under a keeper, and what the command is asked to do. */
async function runningCommand(bench: Bench) {
  const pid = pidOf('a')
  const one = await bench.kernel({ id: 'k_one', serves: COMMANDS, keeping: KEEPING })
  await one.kernel.register([{ request: SLEEP, actor: 'host', pid }])
  const asked: Request[] = []
  const work = await one.begun(pid)
  work.onRequest((request) => asked.push(request))
  return { one, asked }
}

/** The same store; `then` runs after the first write through it, before the caller goes on. */
function afterFirstWrite(inner: Store, then: () => Promise<void>): Store {
  let isFirst = true
  const write = async <Answer>(plan: Plan<Answer>): Promise<Answer> => {
    const answer = await inner.write(plan)
    if (isFirst) {
      isFirst = false
      await then()
    }
    return answer
  }
  return new Proxy(inner, {
    get(target, key) {
      if (key === 'write') return write
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A live kernel that executes two tools and has not renewed its row in time. */
async function silentWith(bench: Bench) {
  const one = await bench.kernel({ id: 'k_one' })
  await one.kernel.register([
    { request: RERUNNABLE, actor: 'host', pid: pidOf('a') },
    { request: TOOL, actor: 'host', pid: pidOf('bound') },
  ])
  await Promise.all([one.begun(pidOf('a')), one.begun(pidOf('bound'))])
  await bench.announce('k_one', -1)
  bench.proof('k_one', 'alive')
  return one
}
