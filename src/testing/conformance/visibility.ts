import assert from 'node:assert/strict'
import { isVisible, visibilityOf } from '../../core/authority/visibility.ts'
import type { Filter } from '../../core/process/filter.ts'
import type { Actor } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { grant, revoke, transfer } from '../../kernel/grants.ts'
import { perform } from '../../kernel/perform.ts'
import { mayRead } from '../../kernel/resolve.ts'
import { markDeleted, openSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, codeOf, OUTSIDE, pidOf, TOOL, times } from './bench.ts'
import { snapshotBesidesAudit } from './sound.ts'

/** Grants, and the deletion of a session. */
export function visibility(behaves: Behaves): void {
  const open = async (bench: Bench) => {
    for (const id of ['s1', 's2', 's3']) await openSession(bench.edges, 'host', id, null)
    for (const text of ['a', 'b', 'c'])
      await bench.register({ ...OUTSIDE, owner: { session: 's1' }, lifetime: 'daemon' }, { pid: pidOf(text) })
  }
  const granted = async (bench: Bench, session: string) =>
    (await bench.store.ask({ ask: 'grants', session })).map(({ pid, descriptor }) => [pid, descriptor])

  behaves('grants are given, changed, and revoked', async (bench) => {
    await open(bench)
    await grant(bench.edges, 'host', 's2', [pidOf('a'), pidOf('b')], { as: 'reader' })
    await grant(bench.edges, 'host', 's2', [pidOf('b')], null)
    assert.deepEqual(await granted(bench, 's2'), [
      [pidOf('a'), { as: 'reader' }],
      [pidOf('b'), null],
    ])
    const byPid = await bench.store.ask({ ask: 'grants', pid: pidOf('b') })
    assert.deepEqual(
      byPid.map(({ session }) => session),
      ['s2'],
    )
    assert.equal(await revoke(bench.edges, 'host', 's2', [pidOf('b'), pidOf('c')]), 1)
    assert.equal(await revoke(bench.edges, 'host', 's2', [pidOf('b')]), 0)
    assert.deepEqual(await granted(bench, 's2'), [[pidOf('a'), { as: 'reader' }]])
  })

  behaves('a grant makes a process visible, and gives no right to act', async (bench) => {
    await open(bench)
    const { record } = await bench.row(pidOf('a'))
    assert.equal(await mayRead(bench.edges, 'session:s2', record), false)
    await grant(bench.edges, 'host', 's2', [pidOf('a')], null)
    assert.equal(await mayRead(bench.edges, 'session:s2', record), true)
    const before = await snapshotBesidesAudit(bench.store)
    await bench.refused('denied', { type: 'pause', pid: pidOf('a'), actor: 'session:s2' })
    const again = grant(bench.edges, 'session:s2', 's3', [pidOf('a')], null)
    assert.equal(await codeOf(again), 'denied')
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
  })

  behaves('a list has the processes that an actor may see, in full pages', async (bench) => {
    await populate(bench)
    for (const actor of ACTORS)
      for (const filter of FILTERS)
        for (const newestFirst of [false, true]) {
          const listed = await pages(bench, { filter, newestFirst }, actor)
          const seen = await seenBy(bench, actor, filter)
          assert.deepEqual(
            listed.flat(),
            newestFirst ? seen.toReversed() : seen,
            `${actor} ${JSON.stringify(filter)}`,
          )
          const short = listed.slice(0, -1).filter(({ length }) => length < PAGE)
          assert.deepEqual(short, [], 'only the last page is not full')
        }
  })

  behaves('an actor of an unknown kind sees nothing', async (bench) => {
    await populate(bench)
    for (const actor of STRANGERS) {
      const listed = await pages(bench, { filter: { status: 'any' } }, actor)
      assert.deepEqual(listed.flat(), [], actor)
      const visibleTo = visibilityOf(actor)
      assert.deepEqual(await bench.store.ask({ ask: 'pids', prefix: 'p_', visibleTo, limit: 5 }), [], actor)
      const { record } = await bench.row(pidOf('s1n0'))
      assert.equal(await mayRead(bench.edges, actor, record), false, actor)
    }
  })

  behaves('a list reflects grants that are given and revoked, and processes that move', async (bench) => {
    await populate(bench)
    const listed = async (session: string) =>
      (await pages(bench, { filter: {} }, `session:${session}`)).flat()
    const [own, granted] = [pidOf('s1n0'), pidOf('s2n1')]
    assert.ok((await listed('s1')).includes(own))
    assert.ok((await listed('s1')).includes(granted))
    await revoke(bench.edges, 'host', 's1', [granted])
    await bench.performed('appended', { type: 'change_owner', pid: own, owner: { session: 's3' } })
    assert.ok(!(await listed('s1')).includes(granted))
    assert.ok(!(await listed('s1')).includes(own))
    assert.ok((await listed('s3')).includes(own))
  })

  behaves('a prefix of a pid finds only processes that the actor may see', async (bench) => {
    await populate(bench)
    for (const actor of ACTORS) {
      const visibleTo = visibilityOf(actor)
      const seen = await seenBy(bench, actor, { status: 'any' })
      const found = await bench.store.ask({ ask: 'pids', prefix: 'p_s', visibleTo, limit: 5 })
      const wanted = seen.filter((pid) => pid.startsWith('p_s')).sort()
      assert.deepEqual(found, wanted.slice(0, 5), actor)
    }
  })

  behaves('grants of several processes, and their transfer, happen together or not at all', async (bench) => {
    await open(bench)
    await grant(bench.edges, 'host', 's2', [pidOf('a'), pidOf('b')], 1)
    const before = await snapshotBesidesAudit(bench.store)
    const no = [
      ['unknown_pid', grant(bench.edges, 'host', 's3', [pidOf('a'), pidOf('unknown')], null)],
      ['session_unknown', grant(bench.edges, 'host', 's9', [pidOf('a')], null)],
      ['unknown_pid', transfer(bench.edges, 'host', 's2', 's3', [pidOf('a'), pidOf('c')])],
      ['session_unknown', transfer(bench.edges, 'host', 's2', 's9', [pidOf('a')])],
      ['denied', transfer(bench.edges, 'session:s3', 's2', 's3', [pidOf('a')])],
    ] as const
    for (const [code, promise] of no) assert.equal(await codeOf(promise), code)
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
    await transfer(bench.edges, 'session:s2', 's2', 's3', [pidOf('a'), pidOf('b')])
    assert.deepEqual(await granted(bench, 's2'), [])
    assert.deepEqual(await granted(bench, 's3'), [
      [pidOf('a'), 1],
      [pidOf('b'), 1],
    ])
  })

  behaves(
    'the deletion of a session removes what it owns, changes nothing else, and reports what it did',
    async (bench) => {
      for (const id of ['s1', 's2']) await openSession(bench.edges, 'host', id, null)
      const own = { session: 's1' }
      await bench.register({ ...TOOL, owner: own }, { pid: pidOf('stopped') })
      await bench.register({ ...OUTSIDE, owner: own, lifetime: 'daemon' }, { pid: pidOf('preserved') })
      await bench.register(
        { ...OUTSIDE, owner: { session: 's2' }, wakeTarget: 's1' },
        { pid: pidOf('orphaned') },
      )
      await bench.register({ ...OUTSIDE, owner: { session: 's2' } }, { pid: pidOf('other') })
      await bench.register({ ...OUTSIDE, owner: own, lifetime: 'daemon' }, { pid: pidOf('ended') })
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf('ended'), reason: 'gone' })
      await grant(bench.edges, 'host', 's1', [pidOf('other')], null)
      await grant(bench.edges, 'host', 's2', [pidOf('preserved')], null)
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const other = await bench.row(pidOf('other'))
      const report = await kernel.sessions.delete('host', 's1')
      assert.deepEqual(report, {
        revoked: 1,
        stopped: [pidOf('stopped')],
        orphaned: [pidOf('orphaned')],
        preserved: [pidOf('preserved')],
        noticesDropped: 2,
      })
      assert.deepEqual(await bench.row(pidOf('other')), other)
      assert.equal((await bench.row(pidOf('orphaned'))).record.wakeTarget, null)
      assert.deepEqual(await bench.store.ask({ ask: 'grants', session: 's1' }), [])
      assert.deepEqual(await granted(bench, 's2'), [[pidOf('preserved'), null]])
      assert.deepEqual(await bench.store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9 }), [])
      assert.equal(await bench.store.ask({ ask: 'session', id: 's1' }), null)
      assert.equal(await codeOf(kernel.sessions.delete('host', 's1')), 'session_unknown')
    },
  )

  behaves('a deletion that crashed is finished by the next sweep', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const pids = times(450).map((index) => pidOf(`w${index}`))
    await bench.tryRegister(pids.map((pid) => ({ pid, request: { ...OUTSIDE, wakeTarget: 's1' } })))
    await bench.register({ ...TOOL, owner: { session: 's1' } }, { pid: pidOf('stopped') })
    await grant(bench.edges, 'host', 's1', [pids[0] ?? ''], null)
    await markDeleted(bench.edges, 'host', 's1')
    const waking = await bench.store.ask({ ask: 'waking', session: 's1', limit: 1_000 })
    assert.equal(waking.length, 450)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sweep()
    assert.equal(await bench.store.ask({ ask: 'session', id: 's1' }), null)
    assert.deepEqual(await bench.store.ask({ ask: 'waking', session: 's1', limit: 10 }), [])
    assert.deepEqual(await bench.store.ask({ ask: 'grants', session: 's1' }), [])
    assert.equal((await bench.row(pidOf('stopped'))).record.status, 'cancelled')
  })

  behaves('activity counts live processes: all, of a session, and since a time', async (bench) => {
    await open(bench)
    const activity = (session: string | null, since: number | null) =>
      bench.store.ask({ ask: 'activity', session, since })
    const begun = bench.clock.now()
    bench.clock.advance(1_000)
    await bench.register(OUTSIDE, { pid: pidOf('d') })
    await bench.performed('appended', { type: 'request_abandon', pid: pidOf('a'), reason: 'gone' })
    assert.deepEqual(await activity(null, null), { live: 3, newestAt: begun + 1_000 })
    assert.deepEqual(await activity('s1', null), { live: 2, newestAt: begun })
    assert.deepEqual(await activity('s2', null), { live: 0, newestAt: null })
    assert.deepEqual(await activity(null, begun + 1), { live: 1, newestAt: begun + 1_000 })
    assert.deepEqual(await activity('s1', begun + 1), { live: 0, newestAt: null })
  })
}

const PAGE = 3
const SESSIONS = ['s1', 's2', 's3', 's4'] as const
/** Actors of kinds that the rule does not know. */
const STRANGERS = ['', 'human', 'hosts', 'kernel', 'Session:s1'].map((text) => text as Actor)
const ACTORS: readonly Actor[] = [
  'host',
  'kernel:k',
  'session:s1',
  'session:s3',
  'session:s4',
  'session:unknown',
  'session:',
  `process:${pidOf('s1n0')}`,
  `process:${pidOf('s1n0child')}`,
  `process:${pidOf('unknown')}`,
  ...STRANGERS,
]
const FILTERS: readonly Filter[] = [
  {},
  { status: 'any' },
  { name: ['odd'] },
  { owner: { session: ['s2', 's3'] } },
  { parent: [pidOf('s1n0')], status: 'any' },
  { label: ['rare'] },
  { pid: [pidOf('s1n1'), pidOf('s2n1'), pidOf('s2n2')] },
]

/** Processes of three sessions and of none, some with children, some ended, with grants between sessions; `s4` has only grants. */
async function populate(bench: Bench): Promise<void> {
  for (const id of SESSIONS) await openSession(bench.edges, 'host', id, null)
  const owners = [{ session: 's1' }, { session: 's2' }, { session: 's3' }, {}]
  for (const index of times(12)) {
    await bench.tryRegister(
      owners.map((owner, at) => ({
        pid: pidOf(`s${at + 1}n${index}`),
        request: {
          ...OUTSIDE,
          owner,
          lifetime: 'daemon',
          ...(index % 2 === 0 ? {} : { name: 'odd' }),
          ...(index % 5 === 4 ? { label: 'rare' } : {}),
        },
      })),
    )
  }
  for (const text of ['s1n0', 's2n3']) {
    const lifetime = 'daemon'
    await bench.register({ ...OUTSIDE, parent: pidOf(text), lifetime }, { pid: pidOf(`${text}child`) })
    await bench.register(
      { ...OUTSIDE, parent: pidOf(`${text}child`), lifetime },
      { pid: pidOf(`${text}grandchild`) },
    )
  }
  for (const text of ['s1n2', 's2n1child', 's2n4', 's3n5'])
    await perform(bench.edges, {
      type: 'request_abandon',
      pid: pidOf(text),
      reason: 'gone',
      actor: 'host',
      at: bench.clock.now(),
    })
  await grant(bench.edges, 'host', 's1', ['s2n1', 's2n4', 's3n0', 's4n7'].map(pidOf), null)
  // A grant of a process that the session owns.
  await grant(bench.edges, 'host', 's1', [pidOf('s1n3')], null)
  await grant(bench.edges, 'host', 's4', ['s1n0', 's1n2', 's4n1'].map(pidOf), null)
}

/** The processes that an actor sees according to the rule. */
async function seenBy(bench: Bench, actor: Actor, filter: Filter): Promise<string[]> {
  const visibility = visibilityOf(actor)
  const { items } = await bench.store.ask({ ask: 'processes', filter, after: null, limit: 10_000 })
  const grants = await bench.store.ask({ ask: 'grants' })
  const isGranted = (pid: string) =>
    grants.some(
      (one) => visibility.type === 'session' && one.session === visibility.session && one.pid === pid,
    )
  return items
    .filter(({ record }) => isVisible(record, visibility, isGranted(record.pid)))
    .map(({ record }) => record.pid)
}

async function pages(
  bench: Bench,
  question: { readonly filter: Filter; readonly newestFirst?: boolean },
  actor: Actor,
): Promise<string[][]> {
  const found: string[][] = []
  let after: number | null = null
  do {
    const page: { items: readonly ProcessRow[]; next: number | null } = await bench.store.ask({
      ask: 'processes',
      visibleTo: visibilityOf(actor),
      ...question,
      after,
      limit: PAGE,
    })
    found.push(page.items.map(({ record }) => record.pid))
    after = page.next
  } while (after !== null)
  return found
}
