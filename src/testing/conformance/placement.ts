import assert from 'node:assert/strict'
import type { Placement } from '../../core/placement/placement.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { refusal } from '../../core/refusal.ts'
import { claim, claimAndStart } from '../../kernel/claim.ts'
import type { Keeping } from '../../kernel/executor.ts'
import { holderNamed } from '../test-kernel.ts'
import { accepted, type Behaves, type Bench, OUTSIDE, pidOf, RERUNNABLE, refusalOf, TOOL } from './bench.ts'
import { snapshotOf } from './sound.ts'

const COMMAND: RegistrationRequest = { kind: 'command', spec: { argv: ['true'] } }
const SERVES = [{ kind: 'tool', targets: null }] as const

/** A process is executed where it is placed, and nowhere else. */
export function placement(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves(
    'a placed process is found and claimed only at its placement, and an unplaced one anywhere',
    async (bench) => {
      for (const [name, placed] of [
        ['free', {}],
        ['host', { placement: 'host:one' }],
        ['folder', { placement: 'folder:two' }],
      ] as const)
        await bench.register({ ...TOOL, ...placed }, { pid: pidOf(name) })
      const find = (here: readonly Placement[]) =>
        bench.store.ask({ ask: 'claimable', serves: SERVES, here, at: bench.clock.now(), limit: 10 })
      assert.deepEqual(await find([]), [pidOf('free')])
      assert.deepEqual(await find(['host:one']), [pidOf('free'), pidOf('host')])
      assert.deepEqual(await find(['host:two', 'folder:two']), [pidOf('free'), pidOf('folder')])
      const named = [{ kind: 'tool', targets: ['work'] }] as const
      assert.deepEqual(
        await bench.store.ask({ ask: 'claimable', serves: named, here: ['host:one'], at: 0, limit: 1 }),
        [pidOf('free')],
      )

      const before = await snapshotOf(bench.store)
      const refused = await claim(bench.edges, pidOf('host'), 'k_two', ['host:two', 'folder:two'])
      assert.equal(refused.type === 'refused' && refused.refusal.code, 'not_claimable')
      assert.deepEqual(await claimAndStart(bench.edges, [pidOf('host'), pidOf('folder')], 'k_two'), [])
      assert.deepEqual(await snapshotOf(bench.store), before)
      assert.equal((await claim(bench.edges, pidOf('host'), 'k_one', ['host:one'])).type, 'granted')
    },
  )

  behaves('the time of the next due process counts only processes placed here', async (bench) => {
    const at = bench.clock.now()
    await bench.register({ ...TOOL, placement: 'host:one', notBefore: at + 1_000 }, { pid })
    await bench.register({ ...TOOL, notBefore: at + 5_000 }, { pid: pidOf('b') })
    const next = (here: readonly Placement[]) => bench.store.ask({ ask: 'nextDue', serves: SERVES, here, at })
    assert.equal(await next(['host:one']), at + 1_000)
    assert.equal(await next(['host:two']), at + 5_000)
    assert.equal(await next([]), at + 5_000)
  })

  behaves('the placement of a parent is resolved when its child is registered', async (bench) => {
    await bench.register({ ...TOOL, placement: 'folder:one' }, { pid })
    await bench.register(TOOL, { pid: pidOf('free') })
    const child = async (request: RegistrationRequest, here: readonly Placement[] = []) =>
      (await bench.register(request, { here })).record.placement
    assert.equal(await child({ ...TOOL, parent: pid, placement: 'parent' }, ['folder:two']), 'folder:one')
    assert.equal(await child({ ...TOOL, parent: pid }, ['folder:two']), null)
    assert.equal(await child({ ...COMMAND, parent: pid }, ['host:h', 'folder:two']), 'folder:two')
    assert.equal(await child({ ...COMMAND, parent: pid }, ['host:h']), 'folder:one')
    assert.equal(
      await child({ ...COMMAND, parent: pidOf('free'), placement: 'parent' }, ['folder:two']),
      'folder:two',
    )
    assert.equal(await child(COMMAND, ['host:h']), null)

    const before = await snapshotOf(bench.store)
    for (const request of [
      { ...TOOL, placement: 'parent' },
      { ...OUTSIDE, placement: 'host:one' },
    ] as const)
      assert.equal(refusalOf(await bench.tryRegister([{ request }])), 'invalid_input')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves(
    'the kernel that registers is not part of the request: a repeat elsewhere is the same process',
    async (bench) => {
      await bench.register(COMMAND, { pid, here: ['folder:one'] })
      const [again] = accepted(await bench.tryRegister([{ request: COMMAND, pid, here: ['folder:two'] }]))
      assert.equal(again?.type, 'existing')
      assert.equal((await bench.row(pid)).record.placement, 'folder:one')
    },
  )

  behaves(
    'a kernel starts processes that are placed with it, and leaves the others to their kernels',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one', host: 'one' })
      await one.kernel.register([{ request: { ...TOOL, placement: 'host:two' }, actor: 'host', pid }])
      await one.kernel.register([
        { request: { ...TOOL, placement: 'host:one' }, actor: 'host', pid: pidOf('b') },
      ])
      await one.begun(pidOf('b'))
      assert.equal((await bench.row(pid)).record.status, 'queued')
      const two = await bench.kernel({ id: 'k_two', host: 'two' })
      await two.begun(pid)
      assert.equal((await bench.row(pid)).holder, 'k_two')
      assert.equal(one.executions(pid), 0)
    },
  )

  behaves('the processes of a dead kernel wait for a kernel on the same host', async (bench) => {
    const one = await bench.kernel({ id: 'k_one', host: 'one' })
    await one.kernel.register([{ request: { ...RERUNNABLE, placement: 'host:one' }, actor: 'host', pid }])
    await one.begun(pid)
    bench.kill(one)
    const two = await bench.kernel({ id: 'k_two', host: 'two' })
    await two.kernel.sweep()
    assert.equal((await bench.row(pid)).record.status, 'queued')
    const next = await bench.kernel({ id: 'k_next', host: 'one' })
    await next.begun(pid)
    assert.equal(two.executions(pid), 0)
  })

  behaves('a command that starts later starts in the data folder where it was requested', async (bench) => {
    const one = await inFolder(bench, 'one')
    const two = await inFolder(bench, 'two')
    const at = bench.clock.now()
    await one.kernel.register([{ request: { ...COMMAND, notBefore: at + 1_000 }, actor: 'host', pid }])
    assert.equal((await bench.row(pid)).record.placement, 'folder:one')
    bench.clock.advance(1_000)
    // Both kernels look for work now.
    for (const { kernel } of [two, one]) await kernel.sweep()
    await one.begun(pid)
    assert.equal(two.executions(pid), 0)
    assert.equal((await bench.row(pid)).holder, 'kp_one')
  })

  behaves('a full keeper refuses only processes that are placed with it', async (bench) => {
    const one = await inFolder(bench, 'one', 0)
    const placed = (placement: Placement) =>
      one.kernel.register([{ request: { ...COMMAND, placement }, actor: 'host' }])
    const [elsewhere] = await placed('folder:two')
    assert.equal(elsewhere?.type, 'registered')
    await assert.rejects(placed('folder:one'), { code: 'too_many_commands' })
  })
}

function inFolder(bench: Bench, folder: string, most = 10) {
  const keeping: Keeping = {
    holder: { ...holderNamed(`kp_${folder}`), role: 'keeper', incarnation: folder },
    available: true,
    most,
    full: refusal('too_many_commands', 'Full.', 'Wait.'),
    found: () => 'adopted',
  }
  return bench.kernel({ id: `k_${folder}`, serves: [{ kind: 'command', targets: null }], keeping })
}
