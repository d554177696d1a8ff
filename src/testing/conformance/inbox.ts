import assert from 'node:assert/strict'
import type { Reader } from '../../core/inbox/readers.ts'
import type { Scope } from '../../core/process/record.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { acknowledge } from '../../kernel/acknowledge.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { consume, observe } from '../../kernel/consume-notices.ts'
import { release } from '../../kernel/overflow.ts'
import { readNotices } from '../../kernel/read-notices.ts'
import { openSession } from '../../kernel/sessions.ts'
import { takeNotices } from '../../kernel/take-notices.ts'
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
import { snapshotOf } from './sound.ts'

const OWNER = 'session:s1'
const SCOPE: Scope = OWNER

/** Who reads, takes and acknowledges what; and that a flood of matches is held back, and nothing else. */
export function inbox(behaves: Behaves): void {
  behaves('a consumer reads on from its own cursor, and others from theirs', async (bench) => {
    await tell(bench, 5)
    const read = (consumer: string) =>
      placesOf(readNotices(bench.edges, { scope: SCOPE, consumer, limit: 3 }))
    const first = await read('one')
    assert.equal(first.length, 3)
    assert.deepEqual(await read('one'), first, 'what was not acknowledged is told again')
    const through = first[1] ?? 0
    await acknowledge(bench.edges, { scope: SCOPE, consumer: 'one', through })
    assert.deepEqual((await read('one'))[0], first[2])
    assert.deepEqual(await read('two'), first)
    const back = await acknowledge(bench.edges, { scope: SCOPE, consumer: 'one', through: 0 })
    assert.equal(back.through, through, 'a cursor never goes back')
  })

  behaves('what one consumer has taken nobody else gets, until its time is up', async (bench) => {
    await tell(bench, 4)
    const one = await takeOf(bench, 'one', 2)
    const two = await takeOf(bench, 'two', 10)
    assert.equal(one.length, 2)
    assert.equal(two.length, 2)
    assert.equal(new Set([...one, ...two]).size, 4)
    assert.deepEqual(await takeOf(bench, 'three', 10), [])
    bench.clock.advance(1_001)
    assert.deepEqual(await takeOf(bench, 'three', 10), [...one, ...two], 'unacknowledged, it is given again')
  })

  behaves('what was acknowledged is never given again, to anybody', async (bench) => {
    await tell(bench, 3)
    const taken = await takeOf(bench, 'one', 2)
    const [first = 0, second = 0] = taken
    const ack = (consumer: string, places: readonly number[]) =>
      acknowledge(bench.edges, { scope: SCOPE, consumer, places })
    assert.deepEqual(await ack('two', [first]), { acknowledged: [], lost: [first], through: 0 })
    assert.deepEqual(await ack('one', [first]), { acknowledged: [first], lost: [], through: 0 })
    assert.deepEqual((await ack('one', [first])).acknowledged, [first], 'to say so twice changes nothing')
    bench.clock.advance(1_001)
    const again = await takeOf(bench, 'two', 10)
    assert.equal(again.includes(first), false)
    assert.equal(again.includes(second), true)
    assert.deepEqual(await ack('one', [second]), { acknowledged: [], lost: [second], through: 0 })
    const open = await placesOf(readNotices(bench.edges, { scope: SCOPE, limit: 10 }))
    assert.equal(open.includes(first), false)
    const all = await readNotices(bench.edges, { scope: SCOPE, limit: 10, all: true })
    assert.deepEqual(
      all.notices.map(({ done }) => done),
      ['acknowledged', null, null],
    )
  })

  behaves(
    'of consumers that take at once, through several connections, no two get the same',
    async (bench) => {
      const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
      await tell(bench, 60)
      const got: number[] = []
      await repeat(30, async (round) => {
        const over = edges[round % 3] ?? bench.edges
        const consumer = `c${round}`
        const taken = await takeNotices(over, { scope: SCOPE, consumer, limit: 3, visibilityMs: 60_000 })
        const places = taken.notices.map(({ place }) => place)
        got.push(...places)
        if (places.length > 0) await acknowledge(over, { scope: SCOPE, consumer, places })
      })
      assert.equal(got.length, 60)
      assert.equal(new Set(got).size, 60)
      assert.deepEqual(await takeOf(bench, 'late', 10), [])
    },
  )

  behaves('an acknowledgement beyond the newest notice hides nothing that comes later', async (bench) => {
    const nothing = await acknowledge(bench.edges, {
      scope: SCOPE,
      consumer: 'one',
      through: 1_700_000_000_000,
    })
    assert.equal(nothing.through, 0)
    assert.equal(await bench.store.ask({ ask: 'inbox', scope: SCOPE }), null, 'nothing was written')
    await tell(bench, 2)
    const all = await placesOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
    const { through } = await acknowledge(bench.edges, {
      ...{ scope: SCOPE, consumer: 'one', through: 1_700_000_000_000 },
    })
    assert.equal(through, all[1], 'it says how far it came')
    const more = { ...OUTSIDE, owner: { session: 's1' } }
    await bench.register(more, { pid: pidOf('later') })
    await bench.performed('appended', {
      ...{ type: 'end', pid: pidOf('later'), ending: { status: 'completed' }, replayKey: 'e', fence: null },
    })
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, consumer: 'one', limit: 9 })
    assert.deepEqual(
      notices.map(({ pid }) => pid),
      [pidOf('later')],
    )
  })

  behaves('what is not there is not acknowledged, nor what another scope is told', async (bench) => {
    await tell(bench, 2)
    const [first = 0, second = 0] = await placesOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
    const before = await snapshotOf(bench.store)
    const other: Scope = 'session:nobody'
    const none = { acknowledged: [], lost: [], through: 0 }
    assert.deepEqual(await acknowledge(bench.edges, { scope: other, consumer: 'x', places: [first] }), none)
    assert.deepEqual(await acknowledge(bench.edges, { scope: SCOPE, consumer: 'x', places: [777_777] }), none)
    assert.deepEqual(await snapshotOf(bench.store), before)
    const some = await acknowledge(bench.edges, {
      ...{ scope: SCOPE, consumer: 'x', places: [777_777, second, first, second] },
    })
    assert.deepEqual(some.acknowledged, [second, first])
  })

  behaves('a page of nothing but what was looked at is read beyond', async (bench) => {
    const [one = '', two = '', three = ''] = await tell(bench, 3)
    for (const pid of [one, two]) await observe(bench.edges, SCOPE as `session:${string}`, pid, 't1')
    const read = await readNotices(bench.edges, { scope: SCOPE, limit: 1, turn: 't1' })
    assert.deepEqual(
      read.notices.map(({ pid }) => pid),
      [three],
    )
  })

  behaves('looks in several turns at once are all remembered', async (bench) => {
    const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    const [pid = ''] = await tell(bench, 1)
    await repeat(12, (round) =>
      observe(edges[round % 3] ?? bench.edges, SCOPE as `session:${string}`, pid, `t${round}`),
    )
    const [told] = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 1 })
    assert.deepEqual(
      [...(told?.observed ?? [])].sort(),
      times(12)
        .map((round) => `t${round}`)
        .sort(),
    )
  })

  behaves('the newest are read without the rest, and those of one process alone', async (bench) => {
    const pids = await tell(bench, 7)
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, limit: 2, newest: true })
    assert.deepEqual(
      notices.map(({ pid }) => pid),
      pids.slice(-2),
    )
    const [pid = ''] = pids
    const about = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 9, pid })
    assert.deepEqual(
      about.map((notice) => notice.pid),
      [pid],
    )
  })

  behaves(
    'a look leaves the notice out in the same turn only, and only for whoever is told',
    async (bench) => {
      const [pid = ''] = await tell(bench, 1)
      const shown = async (turn?: string) =>
        (
          await placesOf(
            readNotices(bench.edges, { scope: SCOPE, limit: 9, ...(turn === undefined ? {} : { turn }) }),
          )
        ).length
      await observe(bench.edges, 'host', pid, 't1')
      await observe(bench.edges, 'session:s2', pid, 't1')
      assert.equal(await shown('t1'), 1, 'others who look change nothing')
      await observe(bench.edges, SCOPE as `session:${string}`, pid, 't1')
      assert.equal(await shown('t1'), 0)
      assert.equal(await shown('t2'), 1)
      assert.equal(await shown(), 1)
      const taken = await takeNotices(bench.edges, {
        ...{ scope: SCOPE, consumer: 'one', limit: 9, visibilityMs: 1_000 },
        turn: 't1',
      })
      assert.deepEqual(taken.notices, [])
    },
  )

  behaves(
    'whoever is told, and takes the outcome, need not be told; others who do change nothing',
    async (bench) => {
      const [pid = '', other = ''] = await tell(bench, 2)
      for (const actor of ['host', 'session:s2', `process:${pidOf('x')}`] as const)
        await consume(bench.edges, actor, pid)
      const open = async () =>
        (await readNotices(bench.edges, { scope: SCOPE, limit: 9 })).notices.map((notice) => notice.pid)
      assert.deepEqual(await open(), [pid, other])
      await consume(bench.edges, SCOPE as `session:${string}`, pid)
      assert.deepEqual(await open(), [other])
      assert.equal((await takeOf(bench, 'one', 9)).length, 1)
    },
  )

  behaves(
    'what one reader consumed is told to readers that were there, and not to later ones',
    async (bench) => {
      const before = readerAt(bench, 'before')
      const other = readerAt(bench, 'other')
      bench.clock.advance(10)
      const [pid = '', open = ''] = await tell(bench, 2)
      await consume(bench.edges, OWNER, pid, other)
      bench.clock.advance(10)
      const later = readerAt(bench, 'later')
      assert.deepEqual(await pidsFor(bench, before), [pid, open])
      assert.deepEqual(await pidsFor(bench, other), [open])
      assert.deepEqual(await pidsFor(bench, later), [open])
      assert.deepEqual(await pidsFor(bench), [open])
      assert.equal((await takeOf(bench, 'worker', 9)).length, 1)
      const page = { scope: SCOPE, consumer: 'mcp', reader: before, limit: 1 }
      const first = await readNotices(bench.edges, page)
      assert.deepEqual([first.notices.length, first.more], [1, true])
      const second = await readNotices(bench.edges, { ...page, after: first.next })
      assert.deepEqual(
        second.notices.map((notice) => notice.pid),
        [open],
      )
      const newest = await readNotices(bench.edges, { ...page, newest: true })
      assert.deepEqual(
        newest.notices.map((notice) => notice.pid),
        [open],
      )
      await observe(bench.edges, OWNER, pid, 't1')
      const inTurn = await readNotices(bench.edges, { ...page, turn: 't1' })
      assert.deepEqual(
        inTurn.notices.map((notice) => notice.pid),
        [open],
        'a reader that looked in this turn is not told in it, though another reader consumed the notice',
      )
      await consume(bench.edges, OWNER, pid, before)
      assert.deepEqual(await pidsFor(bench, before), [open])
      const photo = await snapshotOf(bench.store)
      await consume(bench.edges, OWNER, pid, before)
      assert.deepEqual(await snapshotOf(bench.store), photo, 'to consume twice changes nothing')
      const all = await readNotices(bench.edges, { scope: SCOPE, limit: 9, all: true })
      assert.deepEqual(
        all.notices.map(({ done }) => done),
        ['consumed', null],
      )
    },
  )

  behaves(
    'what one reader acknowledged is told to readers that were there, and not to later ones',
    async (bench) => {
      const before = readerAt(bench, 'before')
      const other = readerAt(bench, 'other')
      bench.clock.advance(10)
      const pids = await tell(bench, 3)
      const places = await placesOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
      const acknowledged = { scope: SCOPE, consumer: 'mcp', through: places[1] ?? 0 }
      assert.equal((await acknowledge(bench.edges, { ...acknowledged, reader: other })).through, places[1])
      bench.clock.advance(10)
      assert.deepEqual(await pidsFor(bench, before), pids)
      assert.deepEqual(await pidsFor(bench, other), pids.slice(2))
      assert.deepEqual(await pidsFor(bench, readerAt(bench, 'later')), pids.slice(2))
      assert.deepEqual(await pidsFor(bench), pids.slice(2))
      await acknowledge(bench.edges, { ...acknowledged, reader: before })
      assert.deepEqual(await pidsFor(bench, before), pids.slice(2))
    },
  )

  behaves('many readers that acknowledge push out no consumer’s cursor', async (bench) => {
    const pids = await tell(bench, 2)
    const [first = 0] = await placesOf(readNotices(bench.edges, { scope: SCOPE, limit: 9 }))
    const acknowledged = { scope: SCOPE, through: first }
    await acknowledge(bench.edges, { ...acknowledged, consumer: 'dashboard' })
    for (const count of times(120)) {
      bench.clock.advance(1)
      await acknowledge(bench.edges, {
        ...acknowledged,
        consumer: 'mcp',
        reader: readerAt(bench, `r${count}`),
      })
    }
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, consumer: 'dashboard', limit: 9 })
    assert.deepEqual(
      notices.map(({ pid }) => pid),
      pids.slice(1),
    )
  })

  behaves(
    'notices are found by the time they were told, and without those that have a mark',
    async (bench) => {
      const [first = ''] = await tell(bench, 2)
      await observe(bench.edges, OWNER, first, 't1')
      bench.clock.advance(10)
      const toldSince = bench.clock.now()
      const later = pidOf('later')
      await bench.register({ ...OUTSIDE, owner: { session: 's1' } }, { pid: later })
      await bench.performed('appended', {
        ...{ type: 'end', pid: later, ending: { status: 'completed' }, replayKey: 'e', fence: null },
      })
      const question = { ask: 'notices', scope: SCOPE, after: 0, limit: 9 } as const
      const since = await bench.store.ask({ ...question, toldSince })
      assert.deepEqual(
        since.map(({ pid }) => pid),
        [later],
      )
      const unmarked = await bench.store.ask({ ...question, unobserved: 't1' })
      assert.equal(unmarked.length, 2)
      assert.equal((await bench.store.ask({ ...question, unobserved: 't' })).length, 3, 'a whole mark counts')
    },
  )

  behaves(
    'of a command that is nobody’s the person is told if it asks for it, and of nothing else',
    async (bench) => {
      const line = { run: 'true' }
      const asked: [string, RegistrationRequest][] = [
        ['plain', { kind: 'command', spec: line }],
        ['none', { kind: 'command', spec: { ...line, notify: 'none' } }],
        ['tool', { kind: 'external', spec: { notify: 'complete' } }],
        ['told', { kind: 'command', spec: { ...line, notify: 'complete' } }],
        ['ready', { kind: 'command', spec: { ...line, ready: { port: 1 } } }],
      ]
      for (const [name, request] of asked) {
        await bench.register(request, { pid: pidOf(name) })
        await bench.performed('appended', {
          ...{ type: 'stop', pid: pidOf(name), how: 'cancel', reason: 'over', cause: null, replayKey: 'e' },
        })
      }
      const { notices } = await readNotices(bench.edges, { scope: 'human:host', limit: 9 })
      assert.deepEqual(
        notices.map(({ pid, kind }) => [pid, kind]),
        [
          [pidOf('told'), 'completion'],
          [pidOf('ready'), 'completion'],
        ],
      )
    },
  )

  behaves('a deleted session leaves nothing of its inbox to the next of its name', async (bench) => {
    await tell(bench, 2)
    await acknowledge(bench.edges, { scope: SCOPE, consumer: 'one', through: 99 })
    await bench.store.write(function* () {
      yield []
      return { answer: undefined, changes: [{ type: 'drop_notices', scope: SCOPE }] }
    })
    assert.equal(await bench.store.ask({ ask: 'inbox', scope: SCOPE }), null)
    assert.deepEqual(await placesOf(readNotices(bench.edges, { scope: SCOPE, limit: 9, all: true })), [])
  })

  behaves('a place in the output is told of once, however often it is come upon', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pid = pidOf('a')
    await held(bench, pid)
    await bench.performed('appended', matched(pid, 10, 20))
    await bench.performed('kept', matched(pid, 10, 20))
    await bench.performed('kept', matched(pid, 5, 20))
    await bench.performed('appended', matched(pid, 20, 30))
    await bench.refused('stale_fence', matched(pid, 40, 50, 'k_other'))
    const told = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 9 })
    assert.deepEqual(
      told.map(({ kind, payload }) => [kind, Object(payload).offset]),
      [
        ['watch_match', 10],
        ['watch_match', 20],
      ],
    )
    assert.equal((await bench.row(pid)).record.watches['errors']?.scannedTo, 30)
  })

  behaves(
    'of 18 sources 15 are told, one says that the rest is held back, and one how many that was',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const pids = times(18).map((index) => pidOf(`m${index}`))
      for (const pid of pids) await held(bench, pid)
      await held(bench, pidOf('done'))
      await Promise.all(pids.map((pid) => bench.performed('appended', matched(pid, 0, 9))))
      // Completions and approvals pass, whatever is held back.
      await bench.performed('appended', awaitsApproval(pidOf('done')))
      await bench.performed('appended', {
        ...{ type: 'end', pid: pidOf('done'), ending: { status: 'completed' }, replayKey: 'e' },
        fence: { holder: 'k_one', fence: 1 },
      })
      const kinds = async () =>
        (await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 99 })).map(({ kind }) => kind)
      const count = async (kind: string) => (await kinds()).filter((one) => one === kind).length
      assert.equal(await count('watch_match'), 15)
      assert.equal(await count('overflow_tripped'), 1)
      assert.equal(await count('completion'), 1)
      assert.equal(await count('approval'), 1)
      const [waiting] = await bench.store.ask({ ask: 'overflowing', limit: 9 })
      assert.equal(waiting?.scope, SCOPE)
      bench.clock.advance(29_999)
      await release(bench.edges, SCOPE)
      assert.equal(await count('overflow_released'), 0)
      bench.clock.advance(1)
      // What is refused releases nothing either.
      const before = await snapshotOf(bench.store)
      await bench.refused('stale_fence', matched(pids[0] ?? '', 30, 40, 'k_other'))
      assert.deepEqual(await snapshotOf(bench.store), before)
      await Promise.all([release(bench.edges, SCOPE), release(bench.edges, SCOPE)])
      assert.equal(await count('overflow_released'), 1)
      const [last] = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 1, newest: true })
      assert.deepEqual([last?.kind, Object(last?.payload).held], ['overflow_released', 3])
      assert.deepEqual(await bench.store.ask({ ask: 'overflowing', limit: 9 }), [])
      await bench.performed('appended', matched(pids[0] ?? '', 30, 40))
      assert.equal(await count('watch_match'), 16)
    },
  )

  behaves('whoever would be told is asked for an approval once, whoever holds the process', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pid = pidOf('a')
    const request = { ...RERUNNABLE, owner: { session: 's1' }, replyTo: 'me' }
    await bench.register(request, { pid, startBy: 'k_one' })
    await bench.performed('appended', {
      ...awaitsApproval(pid),
      wait: { on: 'signal', name: 'x', ordinal: 1 },
    })
    const told = async () =>
      (await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 9 })).map(
        ({ kind, payload, replyTo }) => ({ kind, payload, replyTo }),
      )
    assert.deepEqual(await told(), [], 'of other waits nobody is told')
    await bench.performed('appended', {
      ...{ type: 'signal', pid, name: 'x', id: '1', value: null },
    })
    await bench.refused('stale_fence', awaitsApproval(pid, { holder: 'k_other', fence: 1 }))
    await bench.performed('appended', awaitsApproval(pid))
    await bench.performed('kept', awaitsApproval(pid))
    await bench.performed('appended', {
      ...{
        type: 'put_back',
        pid,
        observed: { holder: 'k_one', fence: 1 },
        evidence: 'holder_dead',
        retryAt: 0,
      },
    })
    await claimAndStart(bench.edges, [pid], 'k_two')
    await bench.performed('appended', awaitsApproval(pid, { holder: 'k_two', fence: 2 }))
    assert.deepEqual((await bench.row(pid)).record.wait, {
      ...{ on: 'approval', name: 'deploy', ordinal: 1, until: null, since: bench.clock.now() },
    })
    assert.deepEqual(await told(), [
      {
        kind: 'approval',
        payload: { label: 'work', name: null, wait: 'deploy', ordinal: 1, until: null },
        replyTo: 'me',
      },
    ])
  })

  behaves(
    'who only observes an inbox releases nothing that is held back, though it is due',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const pids = times(17).map((index) => pidOf(`m${index}`))
      for (const pid of pids) await held(bench, pid)
      await Promise.all(pids.map((pid) => bench.performed('appended', matched(pid, 0, 9))))
      bench.clock.advance(40_000)
      const before = await snapshotOf(bench.store)
      const reading = { scope: SCOPE, limit: 99 }
      const { nextAt } = await readNotices(bench.edges, { ...reading, releases: false })
      assert.deepEqual(await snapshotOf(bench.store), before)
      assert.ok(nextAt !== null && nextAt > bench.clock.now(), 'it looks again later')
      const { notices } = await readNotices(bench.edges, reading)
      assert.ok(notices.some(({ kind }) => kind === 'overflow_released'))
    },
  )

  behaves('what was held back is released by the next kernel when the first one died', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pids = times(17).map((index) => pidOf(`m${index}`))
    for (const pid of pids) await held(bench, pid)
    const one = await bench.kernel({ id: 'k_first' })
    await Promise.all(pids.map((pid) => bench.performed('appended', matched(pid, 0, 9))))
    bench.kill(one)
    bench.clock.advance(40_000)
    const two = await bench.kernel({ id: 'k_second' })
    await two.kernel.sweep()
    const { notices } = await readNotices(bench.edges, { scope: SCOPE, limit: 99 })
    assert.deepEqual(
      notices.filter(({ kind }) => kind === 'overflow_released').map(({ payload }) => payload),
      [{ label: 'something outside', name: null, held: 2, trippedAt: notices[0]?.at }],
    )
  })
}

async function tell(bench: Bench, count: number): Promise<string[]> {
  await openSession(bench.edges, 'host', 's1', null)
  const pids = times(count).map((index) => pidOf(`n${index}`))
  const request = { ...OUTSIDE, owner: { session: 's1' } }
  accepted(await bench.tryRegister(pids.map((pid) => ({ pid, request }))))
  for (const pid of pids)
    await bench.performed('appended', {
      ...{ type: 'end', pid, ending: { status: 'completed' }, replayKey: 'e', fence: null },
    })
  return pids
}

function readerAt(bench: Bench, id: string): Reader {
  return { id, since: bench.clock.now() }
}

/** What a reader of the consumer `mcp`, or that consumer without one, is told. */
async function pidsFor(bench: Bench, reader?: Reader): Promise<string[]> {
  const { notices } = await readNotices(bench.edges, {
    scope: SCOPE,
    consumer: 'mcp',
    limit: 9,
    ...(reader === undefined ? {} : { reader }),
  })
  return notices.map(({ pid }) => pid)
}

async function takeOf(bench: Bench, consumer: string, limit: number): Promise<number[]> {
  const taken = await takeNotices(bench.edges, { scope: SCOPE, consumer, limit, visibilityMs: 1_000 })
  return taken.notices.map(({ place }) => place)
}

async function placesOf(read: ReturnType<typeof readNotices>): Promise<number[]> {
  return (await read).notices.map(({ place }) => place)
}

/** A process that somebody executes, so that what is seen of it can be written. */
async function held(bench: Bench, pid: string): Promise<void> {
  const request = { ...OUTSIDE, owner: { session: 's1' } } as const
  await bench.register(request, { pid, startBy: 'k_one' })
}

function awaitsApproval(pid: string, fence = { holder: 'k_one', fence: 1 }) {
  const wait = { on: 'approval', name: 'deploy', ordinal: 1 } as const
  return { type: 'enter_wait', pid, wait, until: null, fence } as const
}

function matched(pid: string, offset: number, end: number, holder = 'k_one'): Asking {
  const match = { watch: 'errors', wanted: 'ERROR', offset, end, lines: ['ERROR'], more: 0 }
  return {
    ...{ type: 'match', pid, fence: { holder, fence: 1 } },
    match: { ...match, heldBack: 0, missed: null, strikes: 0 },
  }
}
