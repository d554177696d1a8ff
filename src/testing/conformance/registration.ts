import assert from 'node:assert/strict'
import type { Json } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Registered } from '../../kernel/register.ts'
import { openSession } from '../../kernel/sessions.ts'
import { accepted, type Behaves, OUTSIDE, pidOf, refusalOf, TOOL, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

export function registration(behaves: Behaves): void {
  behaves('a live process keeps or blocks its name only within its session', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const named = { ...OUTSIDE, name: 'web' }
    const keep = { ...named, ifRunning: 'keep' } as const
    const replace = { ...named, ifRunning: 'replace' } as const
    const inSession = { owner: { session: 's1' } }
    await bench.register({ ...keep, ...inSession }, { pid: pidOf('s') })
    const first = await bench.register(keep, { pid: pidOf('a') })
    assert.equal(first.record.pid, pidOf('a'))
    const before = await snapshotOf(bench.store)
    const [kept] = accepted(await bench.tryRegister([{ pid: pidOf('b'), request: keep }]))
    assert.equal(kept?.type, 'running')
    assert.equal(kept?.type === 'running' && kept.row.record.pid, pidOf('a'))
    const [keptInSession] = accepted(
      await bench.tryRegister([{ pid: pidOf('c'), request: { ...keep, ...inSession } }]),
    )
    assert.equal(keptInSession?.type === 'running' && keptInSession.row.record.pid, pidOf('s'))
    const refused = await bench.tryRegister([{ pid: pidOf('d'), request: replace }])
    assert.equal(refusalOf(refused), 'name_in_use')
    const nameless = { ...OUTSIDE, ifRunning: 'keep' } as const
    assert.equal(
      refusalOf(await bench.tryRegister([{ pid: pidOf('e'), request: nameless }])),
      'invalid_input',
    )
    assert.deepEqual(await snapshotOf(bench.store), before)
    await bench.register(named, { pid: pidOf('f') })
    const repeated = accepted(await bench.tryRegister([{ pid: pidOf('a'), request: keep }]))
    assert.equal(repeated[0]?.type, 'existing')
  })

  behaves('two requests of one batch that keep the process of a name start one process', async (bench) => {
    const request = { ...OUTSIDE, name: 'web', ifRunning: 'keep' } as const
    const answers = accepted(
      await bench.tryRegister([
        { pid: pidOf('a'), request },
        { pid: pidOf('b'), request },
      ]),
    )
    assert.deepEqual(
      answers.map(({ type }) => type),
      ['registered', 'running'],
    )
  })

  behaves(
    'the answer names processes to replace only if every request could be registered then',
    async (bench) => {
      await bench.register({ ...OUTSIDE, name: 'web' }, { pid: pidOf('a') })
      await bench.register({ ...OUTSIDE, name: 'api' }, { pid: pidOf('b') })
      const before = await snapshotOf(bench.store)
      const web = { ...OUTSIDE, name: 'web', ifRunning: 'replace' } as const
      const api = { ...OUTSIDE, name: 'api', ifRunning: 'replace' } as const
      const unknownParent = { ...OUTSIDE, parent: pidOf('z') }
      const refusals = [
        await bench.tryRegister([{ pid: pidOf('c'), request: { ...web, parent: pidOf('z') } }]),
        await bench.tryRegister([{ pid: pidOf('c'), request: { ...web, parent: pidOf('a') } }]),
        await bench.tryRegister([
          { pid: pidOf('c'), request: web },
          { pid: pidOf('d'), request: unknownParent },
        ]),
        await bench.tryRegister([
          { pid: pidOf('c'), request: web },
          { pid: pidOf('d'), request: web },
        ]),
        await bench.tryRegister([
          { pid: pidOf('c'), request: { ...web, ifRunning: 'keep' } },
          { pid: pidOf('d'), request: web },
        ]),
      ]
      assert.deepEqual(refusals.map(refusalOf), [
        'unknown_pid',
        'stopping',
        'unknown_pid',
        'invalid_input',
        'invalid_input',
      ])
      const inUse = await bench.tryRegister([
        { pid: pidOf('c'), request: web },
        { pid: pidOf('d'), request: api },
        { pid: pidOf('e'), request: { ...OUTSIDE, parent: pidOf('c') } },
      ])
      assert.ok(!Array.isArray(inUse))
      assert.equal(refusalOf(inUse), 'name_in_use')
      assert.deepEqual('details' in inUse && inUse.details?.['pids'], [pidOf('a'), pidOf('b')])
      assert.deepEqual(await snapshotOf(bench.store), before)
    },
  )

  behaves('a registration fills in every default', async (bench) => {
    const at = bench.clock.now()
    const { record, ...lease } = await bench.register(OUTSIDE, { pid: pidOf('a') })
    const { registrationHash, ...rest } = record
    assert.match(registrationHash, /^[0-9a-f]{64}$/)
    assert.deepEqual(lease, { holder: null, fence: 0, carry: null })
    assert.deepEqual(rest, {
      pid: 'p_azzzzzzzzzzz',
      agent: null,
      name: null,
      kind: 'external',
      spec: { description: 'something outside' },
      identity: { label: 'something outside', definition: null },
      parent: null,
      root: 'p_azzzzzzzzzzz',
      depth: 0,
      restartOf: null,
      group: null,
      owner: {},
      originator: 'host',
      causedBy: null,
      replyTo: null,
      lifetime: 'daemon',
      recovery: 'external',
      placement: null,
      envRef: null,
      cwd: null,
      eventTypes: {},
      wakeTarget: null,
      limits: { attempts: 5, depth: 32 },
      status: 'queued',
      pausedFrom: null,
      stopRequest: null,
      wait: null,
      moreWaits: [],
      parked: false,
      awaitedBy: [],
      journal: null,
      gate: null,
      effectiveSpec: null,
      signals: {},
      children: 0,
      attempts: 0,
      retryAt: null,
      firstStarted: null,
      program: null,
      watches: {},
      readiness: null,
      abandonRequest: null,
      externalRef: null,
      outcome: null,
      facets: {},
      revision: 1,
      createdAt: at,
      updatedAt: at,
    })
    assert.deepEqual(await bench.row(pidOf('a')), { record, ...lease })
  })

  behaves('every field of a request is stored as given', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const asked = {
      kind: 'tool',
      spec: { tool: 'work', input: AWKWARD },
      name: 'builder',
      label: 'Build it',
      definition: AWKWARD,
      owner: { session: 's1', toolCall: 'call 7', source: 'tests' },
      causedBy: { event: 'e1', traceparent: '00-ab-cd-01' },
      replyTo: { channel: ['a', 1] },
      lifetime: 'detached',
      recovery: 'rerunnable',
      cwd: '/srv/ä ö',
      eventTypes: { progress: { schema: { type: 'number' }, facet: 'done' } },
      wakeTarget: 's1',
      limits: { attempts: 2, depth: 3 },
    } as const
    await bench.register(asked, { pid: pidOf('a') })
    const { record } = await (await bench.open()).ask({ ask: 'process', pid: pidOf('a') }).then(there)
    const { label, definition, spec, ...same } = asked
    for (const [field, value] of Object.entries(same))
      assert.deepEqual(record[field as keyof typeof record], value, field)
    assert.deepEqual(record.identity, { label, definition })
    assert.deepEqual(record.spec, spec)
  })

  behaves('the same pid with the same request is the same process, unchanged', async (bench) => {
    const first = await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.performed('appended', { type: 'change_cwd', pid: pidOf('a'), cwd: '/tmp' })
    const before = await snapshotOf(bench.store)
    bench.clock.advance(60_000)
    const [again] = accepted(await bench.tryRegister([{ pid: pidOf('a') }]))
    assert.equal(again?.type, 'existing')
    assert.equal(again.row.record.cwd, '/tmp')
    assert.equal(again.row.record.registrationHash, first.record.registrationHash)
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('the same pid with another request is a conflict, and nothing changes', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    const before = await snapshotOf(bench.store)
    const other = { kind: 'external', spec: { description: 'something else' } } as const
    assert.equal(refusalOf(await bench.tryRegister([{ pid: pidOf('a'), request: other }])), 'conflict')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('the order of keys and the sign of zero do not make another request', async (bench) => {
    const one = { ...OUTSIDE, definition: { b: [1, { y: 1, x: 2 }], a: -0, é: 'ü' } }
    const other = { definition: { é: 'ü', a: 0, b: [1, { x: 2, y: 1 }] }, ...OUTSIDE }
    await bench.register(one, { pid: pidOf('a') })
    const [again] = accepted(await bench.tryRegister([{ pid: pidOf('a'), request: other }]))
    assert.equal(again?.type, 'existing')
    const reordered = { ...OUTSIDE, definition: { b: [{ y: 1, x: 2 }, 1], a: 0, é: 'ü' } }
    assert.equal(refusalOf(await bench.tryRegister([{ pid: pidOf('a'), request: reordered }])), 'conflict')
  })

  behaves('other trace data does not make another request, another cause does', async (bench) => {
    const causedBy = (cause: string, trace: string) => ({
      ...OUTSIDE,
      causedBy: { event: cause, traceparent: trace, tracestate: trace },
    })
    await bench.register(causedBy('e1', '00-aa-01'), { pid: pidOf('a') })
    const [again] = accepted(
      await bench.tryRegister([{ pid: pidOf('a'), request: causedBy('e1', '00-bb-01') }]),
    )
    assert.equal(again?.type, 'existing')
    const other = await bench.tryRegister([{ pid: pidOf('a'), request: causedBy('e2', '00-aa-01') }])
    assert.equal(refusalOf(other), 'conflict')
  })

  behaves(
    'an idempotency key stands for one process per actor, also on another connection',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const request = { ...OUTSIDE, owner: { session: 's1' } }
      const keyed = (actor: 'host' | 'session:s1', over = bench.edges) =>
        bench.tryRegister([{ request, actor, idempotencyKey: 'once' }], over).then(accepted)
      const [first] = await keyed('host')
      const [again] = await keyed('host', bench.edgesOver(await bench.open()))
      const [another] = await keyed('session:s1')
      assert.deepEqual([first?.type, again?.type, another?.type], ['registered', 'existing', 'registered'])
      assert.equal(pidIn(first), pidIn(again))
      assert.notEqual(pidIn(first), pidIn(another))
    },
  )

  behaves('several requests are registered in order, or none of them', async (bench) => {
    const pids = times(300).map((index) => pidOf(`n${index}`.padStart(4, '0')))
    const registered = accepted(await bench.tryRegister(pids.map((pid) => ({ pid }))))
    assert.deepEqual(registered.map(pidIn), pids)
    const before = await snapshotOf(bench.store)
    const misfit = [{ pid: pidOf('new1') }, { pid: pids[7] ?? '', request: TOOL }, { pid: pidOf('new2') }]
    assert.equal(refusalOf(await bench.tryRegister(misfit)), 'conflict')
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('a later request of a batch may have an earlier one as its parent, or repeat it', async (bench) => {
    const registered = accepted(
      await bench.tryRegister([
        { pid: pidOf('a') },
        { pid: pidOf('b'), request: { ...OUTSIDE, parent: pidOf('a') } },
        { pid: pidOf('a') },
        { pid: pidOf('c'), request: { ...OUTSIDE, parent: pidOf('b') } },
      ]),
    )
    assert.deepEqual(
      registered.map(({ type }) => type),
      ['registered', 'registered', 'existing', 'registered'],
    )
    const { record } = await bench.row(pidOf('c'))
    assert.deepEqual([record.parent, record.root, record.depth], [pidOf('b'), pidOf('a'), 2])
    assert.deepEqual(await bench.eventTypes(pidOf('a')), ['registered', 'child_registered'])
  })
}

/** Texts and numbers that a badly typed column would change. */
const AWKWARD: Json = {
  nul: 'a\u0000b',
  separators: '\u2028\u2029',
  emoji: '👩‍🚀',
  quote: '\'"\\',
  '': 'empty key',
  constructor: 'a key that every object has',
  numbers: [0, 1.5, 1e308, 5e-324, 9007199254740991, -9007199254740991],
  nested: [[[[[[{ deep: null }]]]]]],
  null: null,
}

function pidIn(registered: Registered | undefined): Pid | undefined {
  return registered === undefined || registered.type === 'refused' ? undefined : registered.row.record.pid
}

function there<Thing>(thing: Thing | null): Thing {
  assert.ok(thing)
  return thing
}
