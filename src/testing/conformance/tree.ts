import assert from 'node:assert/strict'
import type { Lifetime } from '../../core/process/record.ts'
import { prune } from '../../kernel/prune.ts'
import { openSession } from '../../kernel/sessions.ts'
import { type Asking, accepted, type Behaves, type Bench, OUTSIDE, pidOf, TOOL, times } from './bench.ts'
import { stop } from './recovery.ts'

/** Stops and ends that propagate down a tree. */
export function tree(behaves: Behaves): void {
  const root = pidOf('root')
  const child = (pid: string, parent: string, lifetime: Lifetime = 'parent') =>
    ({ pid, request: { ...TOOL, parent, lifetime } }) as const
  const idle = (bench: Bench, id: string) => bench.kernel({ id, serves: [] })
  const stopRoot: Asking = {
    type: 'stop',
    pid: root,
    how: 'cancel',
    reason: 'enough',
    cause: null,
    replayKey: 'stop the tree',
  }

  behaves('a cancel reaches every descendant, over many pages, and names its cause', async (bench) => {
    const children = times(450).map((index) => pidOf(`c${index}`))
    const grandchildren = times(30).map((index) => pidOf(`g${index}`))
    await bench.register(TOOL, { pid: root })
    accepted(await bench.tryRegister(children.map((pid) => child(pid, root))))
    accepted(
      await bench.tryRegister(grandchildren.map((pid, index) => child(pid, children[index * 10] ?? ''))),
    )
    const { kernel } = await idle(bench, 'k_one')
    await stop(kernel, root, 'the user said so')
    const all = [...children, ...grandchildren]
    for (const ended of await Promise.all(all.map((pid) => kernel.waits.forEnd(pid, {})))) {
      assert.ok(ended.type === 'done')
      const { outcome, stopRequest, parent } = ended.value.record
      assert.equal(outcome?.status, 'cancelled')
      assert.match(outcome?.reason ?? '', /^the user said so/)
      assert.equal(stopRequest?.cause, parent)
      assert.ok(outcome?.reason?.includes(parent ?? '?'), outcome?.reason ?? '')
      assert.equal(outcome?.source, 'kernel:k_one')
    }
    await allCarried(bench)
  })

  behaves(
    'a stop skips processes that survive their parent on purpose, with everything below them',
    async (bench) => {
      await bench.register(TOOL, { pid: root })
      accepted(
        await bench.tryRegister([
          child(pidOf('parent'), root, 'parent'),
          child(pidOf('daemon'), root, 'daemon'),
          child(pidOf('detached'), root, 'detached'),
          child(pidOf('below'), pidOf('detached'), 'parent'),
        ]),
      )
      const { kernel } = await idle(bench, 'k_one')
      await stop(kernel, root, 'enough', 'kill')
      await kernel.waits.forEnd(pidOf('parent'), {})
      await allCarried(bench)
      const statuses = await Promise.all(
        ['parent', 'daemon', 'detached', 'below'].map(
          async (text) => (await bench.row(pidOf(text))).record.status,
        ),
      )
      assert.deepEqual(statuses, ['cancelled', 'queued', 'queued', 'queued'])
      assert.equal((await bench.row(pidOf('parent'))).record.stopRequest?.how, 'kill')
    },
  )

  behaves('a stop passes through an ended child to the live processes below it', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await bench.register(OUTSIDE, { pid: root })
    await bench.register({ ...OUTSIDE, parent: root }, { pid: pidOf('middle') })
    const leaf = { ...TOOL, parent: pidOf('middle'), owner: { session: 's1' }, lifetime: 'session' } as const
    await bench.register(leaf, { pid: pidOf('leaf') })
    const { kernel } = await idle(bench, 'k_one')
    const at = bench.clock.now()
    const ended = { ending: { status: 'completed' }, replayKey: 'e', fence: null, actor: 'host', at } as const
    await kernel.perform({ type: 'end', pid: pidOf('middle'), ...ended })
    await allCarried(bench)
    assert.equal((await bench.row(pidOf('leaf'))).record.status, 'queued')
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [], 'an ancestor of a live process is kept')
    await stop(kernel, root, 'the whole tree')
    const stopped = await kernel.waits.forEnd(pidOf('leaf'), {})
    assert.ok(stopped.type === 'done')
    assert.equal(stopped.value.record.outcome?.status, 'cancelled')
    assert.match(stopped.value.record.outcome?.reason ?? '', /^the whole tree/)
    await allCarried(bench)
  })

  behaves('an interrupt concerns one process alone', async (bench) => {
    await bench.register(OUTSIDE, { pid: root })
    await bench.register({ ...OUTSIDE, parent: root }, { pid: pidOf('b') })
    const { kernel } = await idle(bench, 'k_one')
    const { row } = await stop(kernel, root, 'a moment', 'interrupt')
    assert.deepEqual([row.record.status, row.carry], ['stopping', null])
    assert.equal((await bench.row(pidOf('b'))).record.status, 'queued')
  })

  behaves(
    'the end of a parent stops the children with the lifetime of the parent, and no others',
    async (bench) => {
      await bench.register(OUTSIDE, { pid: root })
      accepted(
        await bench.tryRegister([
          child(pidOf('parent'), root, 'parent'),
          child(pidOf('daemon'), root, 'daemon'),
          child(pidOf('below'), pidOf('parent'), 'parent'),
        ]),
      )
      const { kernel } = await idle(bench, 'k_one')
      const at = bench.clock.now()
      const ending = { status: 'completed' } as const
      await kernel.perform({ type: 'end', pid: root, ending, replayKey: 'e', fence: null, actor: 'host', at })
      await kernel.waits.forEnd(pidOf('below'), {})
      await allCarried(bench)
      const { outcome } = (await bench.row(pidOf('parent'))).record
      assert.deepEqual(
        [outcome?.status, outcome?.reason],
        ['cancelled', `lifetime: its parent ${root} has ended`],
      )
      assert.equal((await bench.row(pidOf('daemon'))).record.status, 'queued')
    },
  )

  behaves(
    'the next sweep carries on a stop that no kernel carried, or whose kernel crashed',
    async (bench) => {
      const children = times(250).map((index) => pidOf(`c${index}`))
      await bench.register(TOOL, { pid: root })
      accepted(await bench.tryRegister(children.map((pid) => child(pid, root))))
      accepted(await bench.tryRegister([child(pidOf('below'), children[249] ?? '')]))
      // The request is durable by itself: it was written without a kernel, and the first kernel dies while it carries it.
      assert.equal((await bench.performed('appended', stopRoot)).row.carry, 'stop')
      const carrying = await bench.store.ask({ ask: 'carrying', after: null, limit: 10 })
      assert.deepEqual(
        carrying.items.map(({ record }) => record.pid),
        [root],
      )
      const one = await idle(bench, 'k_one')
      one.crash()
      const two = await idle(bench, 'k_two')
      await two.kernel.sweep()
      const all = [...children, pidOf('below')]
      for (const ended of await Promise.all(all.map((pid) => two.kernel.waits.forEnd(pid, {})))) {
        assert.equal(ended.type === 'done' && ended.value.record.outcome?.status, 'cancelled')
      }
      await allCarried(bench)
      assert.deepEqual(await bench.eventTypes(children[0] ?? ''), ['registered', 'stop_requested', 'ended'])
    },
  )

  behaves('a stop reaches the executor of a descendant on another connection', async (bench) => {
    const worker = await bench.kernel({ id: 'k_worker' })
    await bench.register(OUTSIDE, { pid: root })
    await worker.kernel.register([{ ...child(pidOf('b'), root), actor: 'host' }])
    const work = await worker.begun(pidOf('b'))
    const { kernel } = await idle(bench, 'k_other')
    await stop(kernel, root, 'enough')
    const ended = await kernel.waits.forEnd(pidOf('b'), {})
    assert.equal(ended.type === 'done' && ended.value.record.outcome?.status, 'cancelled')
    assert.equal(work.signal.aborted, true)
  })

  behaves('a kill ends a process that ignores stops', async (bench) => {
    const deaf = await bench.kernel({ id: 'k_deaf', script: () => new Promise<never>(() => {}) })
    await deaf.kernel.register([{ request: TOOL, actor: 'host', pid: root }])
    await deaf.begun(root)
    await stop(deaf.kernel, root, 'first politely')
    assert.equal((await bench.row(root)).record.status, 'stopping')
    await stop(deaf.kernel, root, 'then hard', 'kill')
    const ended = await deaf.kernel.waits.forEnd(root, {})
    assert.ok(ended.type === 'done')
    assert.deepEqual(
      [ended.value.record.outcome?.status, ended.value.record.outcome?.reason],
      ['cancelled', 'then hard'],
    )
  })
}

/** No process has a carry mark any more. */
export async function allCarried(bench: Bench): Promise<void> {
  for (;;) {
    const { items } = await bench.store.ask({ ask: 'carrying', after: null, limit: 1 })
    const scopes = await bench.store.ask({ ask: 'carryingScopes', limit: 1 })
    if (items.length + scopes.length === 0) return
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}
