import assert from 'node:assert/strict'
import type { Pid } from '../../core/process/pid.ts'
import type { Delivery } from '../../core/trigger/delivery.ts'
import type { Trigger, TriggerDefinition, TriggerSource } from '../../core/trigger/trigger.ts'
import { register } from '../../kernel/register.ts'
import { openSession } from '../../kernel/sessions.ts'
import { openMemoryFiles } from '../memory-files.ts'
import type { TestKernel } from '../test-kernel.ts'
import { type Behaves, type Bench, codeOf, TOOL, times } from './bench.ts'

const WEBHOOK: TriggerSource = { type: 'webhook', filter: {}, maxBytes: 1_000, maxPerMinute: 1_000 }
const ENDED: TriggerSource = { type: 'event', on: ['ended'], name: ['build'] }

export function triggers(behaves: Behaves): void {
  behaves(
    'triggers are listed by id, deliveries by number, and both go with a removed trigger',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      for (const id of ['c', 'a', 'b']) await kernel.triggers.add('host', id, onWebhook())
      const ids = async (after: string | null, limit: number) =>
        (await bench.store.ask({ ask: 'triggers', after, limit })).map(({ id }) => id)
      assert.deepEqual(await ids(null, 10), ['a', 'b', 'c'])
      assert.deepEqual(await ids('a', 1), ['b'])
      for (const n of times(3)) await kernel.triggers.receive('b', `d${n}`, { n })
      assert.deepEqual(
        (await deliveries(bench, 'b')).map(({ number }) => number),
        [3, 2, 1],
      )
      const page = await bench.store.ask({ ask: 'deliveries', trigger: 'b', before: 3, limit: 1 })
      assert.deepEqual(
        page.map(({ number, id }) => [number, id]),
        [[2, 'webhook:d1']],
      )
      await kernel.triggers.remove('host', 'b')
      assert.deepEqual(await ids(null, 10), ['a', 'c'])
      assert.deepEqual(await deliveries(bench, 'b'), [])
      assert.equal(await bench.store.ask({ ask: 'trigger', id: 'b' }), null)
      await kernel.triggers.add('host', 'b', onWebhook())
      assert.equal((await kernel.triggers.receive('b', 'd0', {})).type, 'started')
    },
  )

  behaves('decided deliveries are pruned by number, and those that wait stay', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.triggers.add('host', 'hook', onWebhook())
    for (const n of times(3)) await kernel.triggers.receive('hook', `d${n}`, { n })
    await bench.store.write(function* () {
      yield [{ ask: 'trigger', id: 'hook' }]
      return { answer: undefined, changes: [{ type: 'deliveries_gone', trigger: 'hook', through: 3 }] }
    })
    assert.deepEqual(
      (await deliveries(bench, 'hook')).map(({ id, verdict }) => [id, verdict]),
      [
        ['webhook:d2', 'queued'],
        ['webhook:d1', 'queued'],
      ],
    )
    // The process of the first one is there, so its repetition starts nothing.
    assert.equal((await kernel.triggers.receive('hook', 'd0', {})).type, 'queued')
    assert.equal(await live(bench), 1)
  })

  behaves('a delivery starts one process, in the same commit, with the body as its input', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const { trigger, secret } = await one.kernel.triggers.add('host', 'hook', onWebhook())
    assert.match(secret ?? '', /^whsec_[0-9a-f]{40}$/)
    assert.deepEqual(await one.kernel.triggers.add('host', 'hook', onWebhook()), { trigger, secret: null })
    assert.equal(
      await codeOf(one.kernel.triggers.add('host', 'hook', onWebhook({ overlap: 'skip' }))),
      'conflict',
    )
    const first = await one.kernel.triggers.receive('hook', 'd1', { ref: 'main' })
    const pid = pidIn(first)
    const { record } = await bench.row(pid)
    assert.deepEqual(record.spec['input'], {
      trigger: {
        trigger: 'hook',
        delivery: 'webhook:d1',
        at: bench.clock.now(),
        type: 'webhook',
        body: { ref: 'main' },
      },
    })
    assert.deepEqual(record.owner, { session: 'trigger:hook' })
    assert.deepEqual(record.causedBy, { trigger: 'hook', delivery: 'webhook:d1' })
    await one.begun(pid)
    one.finish(pid)
    await ended(one, pid)
    const again = await one.kernel.triggers.receive('hook', 'd1', { ref: 'main' })
    assert.equal(again.type, 'duplicate')
    const { counts, running } = await stored(bench, 'hook')
    assert.deepEqual(counts, { started: 1, filtered: 0, skipped: 0, duplicates: 1, failed: 0 })
    assert.deepEqual(running, [])
    assert.equal(one.executions(pid), 1)
  })

  behaves('a body without the values of the filter starts nothing', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    const source = { ...WEBHOOK, filter: { action: 'opened', 'pull.base.0': 'main' } }
    await kernel.triggers.add('host', 'hook', onWebhook({ source }))
    const verdictOf = async (id: string, body: object) =>
      (await kernel.triggers.receive('hook', id, JSON.parse(JSON.stringify(body)))).type
    assert.equal(await verdictOf('d1', { action: 'closed', pull: { base: ['main'] } }), 'filtered')
    assert.equal(await verdictOf('d2', { action: 'opened' }), 'filtered')
    assert.equal(await verdictOf('d3', { action: 'opened', pull: { base: ['main'] } }), 'started')
    assert.equal(await verdictOf('d1', { action: 'opened', pull: { base: ['main'] } }), 'duplicate')
    assert.equal((await stored(bench, 'hook')).counts.filtered, 2)
  })

  behaves('kernels that get one delivery at once start it once', async (bench) => {
    const kernels = await Promise.all(['k_one', 'k_two'].map((id) => bench.kernel({ id })))
    const [one] = kernels
    await one?.kernel.triggers.add('host', 'hook', onWebhook({ overlap: 'allow' }))
    const answers = await Promise.all(
      times(20).flatMap((n) => kernels.map(({ kernel }) => kernel.triggers.receive('hook', `d${n % 5}`, {}))),
    )
    const started = answers.filter(({ type }) => type === 'started')
    assert.equal(new Set(started.map(pidIn)).size, 5)
    assert.equal(started.length, 5)
    assert.equal((await stored(bench, 'hook')).counts.duplicates, 35)
    for (const pid of started.map(pidIn)) {
      const holder = await Promise.race(kernels.map((each) => each.begun(pid).then(() => each)))
      holder.finish(pid)
      await ended(holder, pid)
      assert.equal(
        kernels.reduce((sum, each) => sum + each.executions(pid), 0),
        1,
      )
    }
  })

  behaves('deliveries during a run are queued in order, skipped, or the latest is kept', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const ran = async (overlap: TriggerDefinition['overlap']): Promise<string[]> => {
      await one.kernel.triggers.add('host', overlap, onWebhook({ overlap }))
      for (const n of times(4)) await one.kernel.triggers.receive(overlap, `d${n}`, {})
      const runs: string[] = []
      for (;;) {
        const [occurrence] = (await stored(bench, overlap)).running
        if (occurrence === undefined) return runs
        runs.push(String((await bench.row(occurrence.pid)).record.causedBy?.['delivery']))
        await one.begun(occurrence.pid)
        one.finish(occurrence.pid)
        await ended(one, occurrence.pid)
      }
    }
    assert.deepEqual(await ran('queue'), ['webhook:d0', 'webhook:d1', 'webhook:d2', 'webhook:d3'])
    assert.deepEqual(await ran('skip'), ['webhook:d0'])
    assert.deepEqual(await ran('bufferOne'), ['webhook:d0', 'webhook:d3'])
    const verdicts = (await deliveries(bench, 'bufferOne')).map(({ verdict }) => verdict)
    assert.deepEqual(verdicts, ['started', 'skipped', 'skipped', 'started'])
  })

  behaves('with cancelOther a delivery stops the occurrence before, with allow both run', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const pids = async (overlap: TriggerDefinition['overlap']) => {
      await one.kernel.triggers.add('host', overlap, onWebhook({ overlap }))
      const both: Pid[] = []
      for (const n of times(2)) {
        both.push(pidIn(await one.kernel.triggers.receive(overlap, `d${n}`, {})))
        await one.begun(both.at(-1) ?? '')
      }
      return both
    }
    const [cancelled = '', other = ''] = await pids('cancelOther')
    await ended(one, cancelled)
    assert.equal((await bench.row(cancelled)).record.outcome?.reason, 'trigger_overlap')
    assert.equal((await bench.row(other)).record.status, 'running')
    await pids('allow')
    assert.equal((await stored(bench, 'allow')).running.length, 2)
  })

  behaves('a full queue accepts no delivery, and one that was not accepted may come again', async (bench) => {
    const one = await bench.kernel({ id: 'k_one' })
    const { kernel } = one
    await kernel.triggers.add('host', 'hook', onWebhook())
    const first = pidIn(await kernel.triggers.receive('hook', 'first', {}))
    await Promise.all(times(1_000).map((n) => kernel.triggers.receive('hook', `d${n}`, {})))
    assert.equal(await codeOf(kernel.triggers.receive('hook', 'late', {})), 'limit_exceeded')
    await one.begun(first)
    one.finish(first)
    await ended(one, first)
    assert.equal((await kernel.triggers.receive('hook', 'late', {})).type, 'queued')
  })

  behaves(
    'a paused trigger accepts nothing new, and its waiting deliveries start when it is resumed',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one' })
      const { triggers: acts } = one.kernel
      await acts.add('host', 'hook', onWebhook({ pauseOnFailure: true }))
      const [first = '', second = ''] = [
        pidIn(await acts.receive('hook', 'd1', {})),
        pidIn(await acts.receive('hook', 'd2', {})),
      ]
      await one.begun(first)
      one.finish(first, { status: 'failed', reason: 'no disk' })
      await ended(one, first)
      assert.equal((await stored(bench, 'hook')).paused?.note, `${first} failed: no disk`)
      assert.equal(await codeOf(acts.receive('hook', 'd3', {})), 'busy')
      assert.equal((await acts.receive('hook', 'd2', {})).type, 'duplicate')
      assert.equal(await bench.store.ask({ ask: 'process', pid: second }), null)
      await acts.resume('host', 'hook')
      await one.begun(second)
      const paused = await acts.pause('host', 'hook', 'holidays')
      assert.deepEqual(paused.paused, { at: bench.clock.now(), by: 'host', note: 'holidays' })
      assert.equal((await bench.row(second)).record.status, 'running')
    },
  )

  behaves(
    'an edit keeps what ran from running again, and a new secret replaces the old one',
    async (bench) => {
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const { secret } = await kernel.triggers.add('host', 'hook', onWebhook())
      await kernel.triggers.receive('hook', 'd1', {})
      const edited = await kernel.triggers.edit('host', 'hook', { overlap: 'allow', rotatesSecret: true })
      assert.equal(edited.trigger.revision, 2)
      assert.notEqual(edited.secret, secret)
      assert.equal((await kernel.triggers.webhook('hook'))?.secret, edited.secret)
      assert.equal((await kernel.triggers.receive('hook', 'd1', {})).type, 'duplicate')
      assert.equal((await kernel.triggers.edit('host', 'hook', { overlap: 'queue' })).secret, null)
      assert.equal(await live(bench), 1)
    },
  )

  behaves('a refused request is one row for each reason and minute', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.triggers.add('host', 'hook', onWebhook())
    for (const _ of times(5)) await kernel.triggers.reject('hook', 'signature')
    await kernel.triggers.reject('hook', 'too_fast')
    await kernel.triggers.reject('unknown', 'signature')
    bench.clock.advance(60_000)
    await kernel.triggers.reject('hook', 'signature')
    const rows = (await deliveries(bench, 'hook')).map(({ verdict, reason }) => [verdict, reason])
    assert.deepEqual(rows, [
      ['rejected', 'signature'],
      ['rejected', 'too_fast'],
      ['rejected', 'signature'],
    ])
  })

  behaves(
    'an event starts a trigger once, with two kernels, and not for what happened before it',
    async (bench) => {
      const kernels = [await bench.kernel({ id: 'k_one' }), await bench.kernel({ id: 'k_two' })]
      const [one] = kernels
      assert.ok(one !== undefined)
      await build(bench, one)
      await one.kernel.triggers.add('host', 'after', on(ENDED, 'allow'))
      for (const each of kernels) await each.kernel.sweep()
      const built = await Promise.all(times(3).map(() => build(bench, one)))
      await build(bench, one, 'other')
      for (const each of kernels) await each.kernel.sweep()
      const made = await deliveries(bench, 'after')
      assert.equal(made.length, 3)
      const [first] = made.toReversed()
      const { record } = await bench.row(first?.pid ?? '')
      const payload = JSON.parse(JSON.stringify(record.spec['input'])).trigger
      assert.equal(payload.type, 'event')
      assert.equal(payload.event.type, 'ended')
      assert.equal(payload.event.payload.status, 'cancelled')
      assert.equal(payload.process.pid, payload.event.pid)
      assert.ok(built.includes(payload.process.pid))
    },
  )

  behaves('events that no kernel saw start a trigger later, once', async (bench) => {
    const one = await bench.kernel({ id: 'k_one', serves: [] })
    await one.kernel.triggers.add(
      'host',
      'after',
      on({ type: 'event', on: ['registered'], name: ['build'] }, 'allow'),
    )
    bench.kill(one)
    for (const _ of times(3)) await registerNamed(bench, 'build')
    const two = await bench.kernel({ id: 'k_two', serves: [] })
    await two.kernel.sweep()
    assert.equal((await deliveries(bench, 'after')).length, 3)
    bench.kill(two)
    const three = await bench.kernel({ id: 'k_three', serves: [] })
    await three.kernel.sweep()
    assert.equal((await stored(bench, 'after')).counts.started, 3)
  })

  behaves('events during a pause start nothing', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.triggers.add(
      'host',
      'after',
      on({ type: 'event', on: ['registered'], name: ['build'] }, 'allow'),
    )
    await kernel.triggers.pause('host', 'after', null)
    await registerNamed(bench, 'build')
    await kernel.triggers.resume('host', 'after')
    await registerNamed(bench, 'build')
    await kernel.sweep()
    assert.equal((await deliveries(bench, 'after')).length, 1)
  })

  behaves(
    'an occurrence does not start its own trigger, and two triggers do not start each other for ever',
    async (bench) => {
      const one = await bench.kernel({ id: 'k_one', script: async () => ({ status: 'completed' }) })
      const any: TriggerSource = { type: 'event', on: ['ended'], kind: ['tool'] }
      await one.kernel.triggers.add('host', 'ping', on(any, 'allow'))
      await one.kernel.triggers.add('host', 'pong', on(any, 'allow'))
      const pid = await registerNamed(bench, 'build')
      await one.kernel.sweep()
      await one.kernel.waits.forEnd(pid, {})
      // Each round ends what the one before started, until no round starts anything.
      for (let known = -1, now = 0; known !== now; ) {
        known = now
        await one.kernel.sweep()
        const all = (
          await bench.store.ask({ ask: 'processes', filter: { status: 'any' }, after: null, limit: 100 })
        ).items
        for (const { record } of all) await one.kernel.waits.forEnd(record.pid, {})
        await one.kernel.sweep()
        now = (await deliveries(bench, 'ping')).length + (await deliveries(bench, 'pong')).length
      }
      const chains = await Promise.all(
        ['ping', 'pong'].map(async (id) =>
          (await deliveries(bench, id)).map(({ chain }) => [...chain, id].join(' ')).sort(),
        ),
      )
      assert.deepEqual(chains, [
        ['ping', 'pong ping'],
        ['ping pong', 'pong'],
      ])
    },
  )

  behaves('a session is not told by its triggers about processes of others', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    for (const id of ['s1', 's2']) await openSession(bench.edges, 'host', id, null)
    const source: TriggerSource = { type: 'event', on: ['registered'], kind: ['tool'] }
    await kernel.triggers.add('session:s1', 'mine', on(source, 'allow'))
    await registerNamed(bench, 'build')
    await registerNamed(bench, 'build', 's2')
    const own = await registerNamed(bench, 'build', 's1')
    await kernel.sweep()
    const found = await deliveries(bench, 'mine')
    assert.equal(found.length, 1)
    const { record } = await bench.row(found[0]?.pid ?? '')
    assert.equal(JSON.parse(JSON.stringify(record.spec['input'])).trigger.process.pid, own)
    assert.deepEqual(record.sessionsAbove, ['s1'])
    assert.equal(await codeOf(kernel.triggers.pause('session:s2', 'mine', null)), 'denied')
    assert.equal(await codeOf(kernel.triggers.show('session:s2', 'mine')), 'denied')
    assert.equal(
      await codeOf(kernel.triggers.add('session:s1', 'files', on(filesOf('/data'), 'queue'))),
      'denied',
    )
  })

  behaves('the end of the session of its creator pauses a trigger, and keeps the delivery', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await openSession(bench.edges, 'host', 's1', null)
    await kernel.triggers.add('session:s1', 'hook', onWebhook())
    await kernel.sessions.end('host', 's1')
    await kernel.triggers.receive('hook', 'd1', {})
    const { paused, queue } = await stored(bench, 'hook')
    assert.match(paused?.note ?? '', /ended/)
    assert.equal(queue.length, 1)
    assert.equal(await codeOf(kernel.triggers.receive('hook', 'd2', {})), 'busy')
  })

  behaves('a change of files starts a trigger once they rest, also if no kernel saw it', async (bench) => {
    const files = openMemoryFiles()
    const kernels = [
      await bench.kernel({ id: 'k_one', serves: [], fileSets: files }),
      await bench.kernel({ id: 'k_two', serves: [], fileSets: files }),
    ]
    files.write('/data/a.csv', '1')
    await kernels[0]?.kernel.triggers.add('host', 'files', on(filesOf('/data'), 'allow'))
    const looked = async () => {
      for (const { kernel } of kernels) await kernel.sweep()
    }
    await looked()
    files.write('/data/b.csv', '1')
    await looked()
    files.write('/data/a.csv', '2')
    await looked()
    assert.equal((await deliveries(bench, 'files')).length, 0)
    bench.clock.advance(1_000)
    await looked()
    assert.deepEqual(await changedIn(bench), [{ added: ['b.csv'], modified: ['a.csv'], removed: [] }])
    for (const each of kernels) bench.kill(each)
    files.remove('/data/a.csv')
    const three = await bench.kernel({ id: 'k_three', serves: [], fileSets: files })
    await three.kernel.sweep()
    bench.clock.advance(1_000)
    await three.kernel.sweep()
    assert.deepEqual((await changedIn(bench))[0], { added: [], modified: [], removed: ['a.csv'] })
    files.write('/data/a.csv', '2')
    await three.kernel.sweep()
    bench.clock.advance(1_000)
    await three.kernel.sweep()
    // The same set as before is another change.
    assert.deepEqual((await changedIn(bench))[0], { added: ['a.csv'], modified: [], removed: [] })
    assert.equal((await deliveries(bench, 'files')).length, 3)
  })
}

function onWebhook(more: Partial<TriggerDefinition> = {}): TriggerDefinition {
  return { ...on(WEBHOOK, 'queue'), ...more }
}

function on(source: TriggerSource, overlap: TriggerDefinition['overlap']): TriggerDefinition {
  return {
    ...{ source, overlap, pauseOnFailure: false },
    request: { ...TOOL, recovery: 'rerunnable', spec: { tool: 'work' } },
  }
}

function filesOf(folder: string): TriggerSource {
  return { type: 'files', folder, glob: '*', debounceMs: 1_000, place: null }
}

async function stored(bench: Bench, id: string): Promise<Trigger> {
  const found = await bench.store.ask({ ask: 'trigger', id })
  assert.ok(found !== null)
  return found
}

async function deliveries(bench: Bench, trigger: string): Promise<readonly Delivery[]> {
  return bench.store.ask({ ask: 'deliveries', trigger, before: null, limit: 100 })
}

function pidIn(delivered: object): Pid {
  assert.ok('pid' in delivered && typeof delivered.pid === 'string', JSON.stringify(delivered))
  return delivered.pid
}

async function ended({ kernel }: TestKernel, pid: Pid): Promise<void> {
  await kernel.waits.forEnd(pid, {})
}

async function live(bench: Bench): Promise<number> {
  return (await bench.store.ask({ ask: 'activity', session: null, since: null })).live
}

async function registerNamed(bench: Bench, name: string, session?: string): Promise<Pid> {
  const owner = session === undefined ? {} : { owner: { session } }
  const registered = await register(
    bench.edges,
    [{ request: { ...TOOL, name, ...owner }, actor: 'host' }],
    'none',
  )
  assert.ok(Array.isArray(registered))
  const [one] = registered
  assert.ok(one !== undefined && one.type !== 'refused')
  return one.row.record.pid
}

/** Registers a process, and ends it. */
async function build(bench: Bench, by: TestKernel, name = 'build'): Promise<Pid> {
  const pid = await registerNamed(bench, name)
  await bench.perform({ type: 'stop', pid, how: 'cancel', reason: 'built', cause: null, replayKey: 'built' })
  await ended(by, pid)
  return pid
}

async function changedIn(bench: Bench): Promise<unknown[]> {
  const found = await deliveries(bench, 'files')
  return Promise.all(
    found.map(async ({ pid }) => {
      const { record } = await bench.row(pid)
      const { added, modified, removed } = JSON.parse(JSON.stringify(record.spec['input'])).trigger
      return { added, modified, removed }
    }),
  )
}
