import assert from 'node:assert/strict'
import type { Ending } from '../../core/process/intent.ts'
import { openSession } from '../../kernel/sessions.ts'
import {
  type Asking,
  accepted,
  type Behaves,
  type Bench,
  OUTSIDE,
  pidOf,
  RERUNNABLE,
  repeat,
  times,
} from './bench.ts'

/** Notices are written with the events that cause them. */
export function outbox(behaves: Behaves): void {
  const pid = pidOf('a')
  const notices = (bench: Bench, scope: string) =>
    bench.store.ask({ ask: 'notices', scope, after: 0, limit: 1_000 })
  const end = (target: string, ending: Ending): Asking => ({
    type: 'end',
    pid: target,
    ending,
    replayKey: 'e',
    fence: null,
  })

  behaves('an end makes a completion notice for the session that owns the process', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const request = { ...OUTSIDE, owner: { session: 's1' }, label: 'the build', replyTo: { thread: 7 } }
    await bench.register(request, { pid })
    assert.deepEqual(await notices(bench, 'session:s1'), [])
    bench.clock.advance(10)
    await bench.performed('appended', end(pid, { status: 'failed', exitCode: 2, reason: 'no space' }))
    await bench.performed('replayed', end(pid, { status: 'failed', exitCode: 2, reason: 'no space' }))
    const endedAt = bench.clock.now()
    const [notice, ...more] = await notices(bench, 'session:s1')
    assert.deepEqual(more, [])
    assert.deepEqual(notice, {
      position: notice?.position,
      scope: 'session:s1',
      pid,
      seq: 2,
      kind: 'completion',
      at: endedAt,
      payload: {
        ...{
          label: 'the build',
          name: null,
          status: 'failed',
          exitCode: 2,
          signal: null,
          reason: 'no space',
        },
        source: null,
        evidence: null,
        startedAt: null,
        endedAt,
      },
      replyTo: { thread: 7 },
      done: null,
      observed: [],
    })
  })

  behaves(
    'the notice of an end goes to the wake target, else to the owner, else to the parent',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      await openSession(bench.edges, 'host', 's2', null)
      await bench.register(OUTSIDE, { pid: pidOf('parent') })
      accepted(
        await bench.tryRegister([
          { pid: pidOf('woken'), request: { ...OUTSIDE, owner: { session: 's1' }, wakeTarget: 's2' } },
          { pid: pidOf('child'), request: { ...OUTSIDE, parent: pidOf('parent') } },
          { pid: pidOf('alone'), request: OUTSIDE },
        ]),
      )
      for (const text of ['woken', 'child', 'alone'])
        await bench.performed('appended', end(pidOf(text), { status: 'completed' }))
      const told = async (scope: string) => (await notices(bench, scope)).map((notice) => notice.pid)
      assert.deepEqual(await told('session:s1'), [])
      assert.deepEqual(await told('session:s2'), [pidOf('woken')])
      assert.deepEqual(await told(`process:${pidOf('parent')}`), [pidOf('child')])
      assert.deepEqual(await told(`process:${pidOf('alone')}`), [])
    },
  )

  behaves('an event that was declared to wake makes one notice', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const eventTypes = { listening: { schema: {}, wake: true }, quiet: { schema: {} } }
    await bench.register({ ...OUTSIDE, wakeTarget: 's1', eventTypes }, { pid })
    const append = (event: string): Asking => ({
      type: 'append',
      pid,
      event,
      payload: { port: 80 },
      replayKey: event,
      fence: null,
    })
    await bench.performed('appended', append('quiet'))
    await bench.performed('appended', append('listening'))
    await bench.performed('replayed', append('listening'))
    assert.deepEqual(
      (await notices(bench, 'session:s1')).map(({ kind, seq, payload }) => ({ kind, seq, payload })),
      [
        {
          kind: 'wake',
          seq: 3,
          payload: { label: 'something outside', name: null, type: 'listening', value: { port: 80 } },
        },
      ],
    )
  })

  behaves(
    'a group makes one notice when all members have ended, with each outcome at its seat',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const member = (index: number) =>
        bench.register(
          { ...OUTSIDE, owner: { session: 's1' }, group: { id: 'g', size: 3, index } },
          { pid: pidOf(`m${index}`) },
        )
      await member(2)
      await member(0)
      await bench.performed('appended', end(pidOf('m2'), { status: 'completed', result: 'two' }))
      await bench.performed('appended', end(pidOf('m0'), { status: 'failed', exitCode: 1, reason: 'zero' }))
      assert.deepEqual(await notices(bench, 'session:s1'), [])
      await member(1)
      assert.deepEqual(await notices(bench, 'session:s1'), [])
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf('m1'), reason: 'lost' })
      const [notice, ...more] = await notices(bench, 'session:s1')
      assert.deepEqual(more, [])
      const outcome = { exitCode: null, reason: null, result: null }
      assert.deepEqual(
        [notice?.kind, notice?.payload],
        [
          'group_completion',
          {
            group: 'g',
            seats: [
              { pid: pidOf('m0'), outcome: { ...outcome, status: 'failed', exitCode: 1, reason: 'zero' } },
              { pid: pidOf('m1'), outcome: { ...outcome, status: 'abandoned', reason: 'lost' } },
              { pid: pidOf('m2'), outcome: { ...outcome, status: 'completed', result: 'two' } },
            ],
          },
        ],
      )
      assert.equal(await bench.store.ask({ ask: 'group', id: 'session:s1 g' }), null)
    },
  )

  behaves(
    'members of a group that end at once, through several connections, make one notice',
    async (bench) => {
      const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
      await openSession(bench.edges, 'host', 's1', null)
      await repeat(20, async (round) => {
        const group = { id: `g${round}`, size: 6 }
        const pids = times(6).map((index) => pidOf(`r${round}m${index}`))
        const request = { ...OUTSIDE, owner: { session: 's1' }, group }
        accepted(await bench.tryRegister(pids.map((each) => ({ pid: each, request }))))
        await Promise.all(
          pids.map((each, index) =>
            bench.performed('appended', end(each, { status: 'completed', result: index }), edges[index % 3]),
          ),
        )
      })
      const told = await notices(bench, 'session:s1')
      assert.deepEqual(
        told.map(({ payload }) => (payload as { group: string }).group).sort(),
        times(20)
          .map((round) => `g${round}`)
          .sort(),
      )
      for (const { payload } of told) {
        const { seats } = payload as { seats: readonly { outcome: { result: number } }[] }
        assert.deepEqual(
          seats.map(({ outcome }) => outcome.result),
          times(6),
        )
      }
    },
  )

  behaves('an end that the parent waits for is told to the parent alone, in its log', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const parent = pidOf('p')
    const owner = { session: 's1' }
    const { fence } = await bench.register({ ...RERUNNABLE, owner }, { pid: parent, startBy: 'h1' })
    const [awaited, lost, other] = [pidOf('b'), pidOf('c'), pidOf('d')]
    for (const child of [awaited, lost, other])
      await bench.register({ ...OUTSIDE, owner, parent }, { pid: child })
    const waitFor = (child: string): Asking => ({
      type: 'enter_wait',
      pid: parent,
      wait: { on: 'child', name: child, ordinal: 1 },
      until: null,
      fence: { holder: 'h1', fence },
    })
    await bench.performed('appended', waitFor(awaited))
    assert.deepEqual((await bench.row(awaited)).record.awaitedBy, [parent])
    await bench.performed('appended', end(other, { status: 'completed' }))
    await bench.performed('appended', end(awaited, { status: 'completed', result: 7 }))
    const { record } = await bench.row(parent)
    assert.deepEqual([record.status, record.wait], ['running', null])
    assert.deepEqual((await bench.events(parent)).at(-1)?.payload, {
      on: 'child',
      name: awaited,
      ordinal: 1,
      how: 'ended',
      signalSeq: null,
      value: (await bench.row(awaited)).record.outcome,
    })
    // The parent waited, and lost its holder: until it waits again, no process has the outcome.
    await bench.performed('appended', waitFor(lost))
    const observed = { holder: 'h1', fence }
    await bench.performed('appended', {
      type: 'put_back',
      pid: parent,
      observed,
      evidence: 'holder_dead',
      retryAt: 0,
    })
    await bench.performed('appended', end(lost, { status: 'failed' }))
    const told = await notices(bench, 'session:s1')
    assert.deepEqual(
      told.map((notice) => [notice.kind, notice.pid]),
      [
        ['completion', other],
        ['completion', lost],
      ],
    )
  })

  behaves('an end and the wait for it never miss each other, and the outcome is told once', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const [one, two] = [bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    await repeat(20, async (round) => {
      const [parent, child] = [pidOf(`p${round}`), pidOf(`c${round}`)]
      const { fence } = await bench.register(RERUNNABLE, { pid: parent, startBy: 'h1' })
      await bench.register({ ...OUTSIDE, owner: { session: 's1' }, parent }, { pid: child })
      const wait = { on: 'child', name: child, ordinal: 1 } as const
      const held = { holder: 'h1', fence }
      await Promise.all([
        bench.performed('appended', end(child, { status: 'completed' }), two),
        bench.performed('appended', { type: 'enter_wait', pid: parent, wait, until: null, fence: held }, one),
      ])
      const isTold = (await notices(bench, 'session:s1')).some((notice) => notice.pid === child)
      const { wait: open } = (await bench.row(parent)).record
      // The end came first: it was told, and the wait is still open, for its executor to end.
      assert.equal(open !== null, isTold)
    })
  })

  behaves(
    'the end of a tool call makes no notice, but those of processes that it started do',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const [call, below, loud] = [pidOf('b'), pidOf('c'), pidOf('d')]
      const owner = { session: 's1', toolCall: 'call 7' }
      await bench.register({ ...OUTSIDE, owner }, { pid: call })
      await bench.register({ ...OUTSIDE, parent: call }, { pid: below })
      const spec = { run: 'make', notify: 'complete' }
      await bench.register({ kind: 'command', spec, owner }, { pid: loud, startBy: 'h1' })
      for (const each of [below, call]) await bench.performed('appended', end(each, { status: 'completed' }))
      const fence = { holder: 'h1', fence: 1 }
      await bench.performed('appended', { ...end(loud, { status: 'completed' }), fence } as Asking)
      assert.deepEqual(
        (await notices(bench, 'session:s1')).map((notice) => notice.pid),
        [below, loud],
      )
    },
  )

  behaves('an end and its notice survive a crash together or not at all', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pids = times(60).map((index) => pidOf(`n${index}`))
    const request = { ...RERUNNABLE, owner: { session: 's1' } }
    const one = await bench.kernel({ id: 'k_one' })
    await one.kernel.register(pids.map((each) => ({ request, actor: 'host', pid: each })))
    await Promise.all(pids.map((each) => one.begun(each)))
    for (const each of pids.slice(0, 40)) one.finish(each)
    await one.kernel.waits.forEnd(pids[0] ?? '', {})
    bench.kill(one)
    const two = await bench.kernel({ id: 'k_two', script: async () => ({ status: 'completed' }) })
    await Promise.all(pids.map((each) => two.kernel.waits.forEnd(each, {})))
    const told = (await notices(bench, 'session:s1')).map((notice) => notice.pid)
    assert.deepEqual([...told].sort(), [...pids].sort())
  })

  behaves('notices are read in the order they were written, from any position', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pids = times(7).map((index) => pidOf(`n${index}`))
    for (const each of pids) {
      await bench.register({ ...OUTSIDE, owner: { session: 's1' } }, { pid: each })
      await bench.performed('appended', end(each, { status: 'completed' }))
    }
    const seen: string[] = []
    for (let after = 0; ; ) {
      const page = await bench.store.ask({ ask: 'notices', scope: 'session:s1', after, limit: 3 })
      if (page.length === 0) break
      seen.push(...page.map((notice) => notice.pid))
      after = page.at(-1)?.position ?? after
    }
    assert.deepEqual(seen, pids)
  })
}
