import assert from 'node:assert/strict'
import { visibilityOf } from '../../core/authority/visibility.ts'
import type { Filter } from '../../core/process/filter.ts'
import type { Actor, ProcessRecord } from '../../core/process/record.ts'
import { isRefusal } from '../../core/refusal.ts'
import { MAX_SESSION_DEPTH } from '../../core/session/session.ts'
import { prune } from '../../kernel/prune.ts'
import { endSession, markDeleted, openSession } from '../../kernel/sessions.ts'
import { interruptScope } from '../../kernel/stop-scope.ts'
import { accepted, type Behaves, type Bench, codeOf, pidOf, refusalOf, TOOL, times } from './bench.ts'
import { snapshotBesidesAudit } from './sound.ts'
import { allCarried } from './tree.ts'

/** Sessions below sessions. */
export function sessionTrees(behaves: Behaves): void {
  const populate = async (bench: Bench, lifetime: ProcessRecord['lifetime'] = 'session') => {
    await openTree(bench)
    for (const session of ['top', 'mid', 'low', 'other'])
      for (const index of times(3))
        await bench.register(
          { ...TOOL, owner: { session }, lifetime },
          { pid: pidOf(`${session}${index}`), actor: `session:${session}` },
        )
  }
  const listed = async (bench: Bench, actor: Actor, filter: Filter = {}, newestFirst = false) => {
    const found: string[] = []
    let after: number | null = null
    do {
      const page: { items: readonly { record: ProcessRecord }[]; next: number | null } =
        await bench.store.ask({
          ask: 'processes',
          filter,
          visibleTo: visibilityOf(actor),
          newestFirst,
          after,
          limit: 2,
        })
      found.push(...page.items.map(({ record }) => record.pid.slice(2).replace(/z+$/, '')))
      after = page.next
    } while (after !== null)
    return found
  }
  const TOP = times(3).map((index) => `top${index}`)
  const MID = times(3).map((index) => `mid${index}`)
  const LOW = times(3).map((index) => `low${index}`)
  const live = async (bench: Bench, session: string) =>
    (await bench.store.ask({ ask: 'activity', session, since: null })).live
  const cancel = (bench: Bench, name: string, actor: Actor) =>
    bench.perform({
      type: 'stop',
      pid: pidOf(name),
      actor,
      how: 'cancel',
      reason: 'x',
      cause: null,
      replayKey: 'x',
    })

  behaves('a session knows the sessions above it, and its children are listed', async (bench) => {
    await openTree(bench)
    const low = await bench.store.ask({ ask: 'session', id: 'low' })
    assert.deepEqual(low?.sessionsAbove, ['mid', 'top'])
    const children = (parent: string) => bench.store.ask({ ask: 'sessions', parent, after: null, limit: 10 })
    assert.deepEqual(
      (await children('top')).map(({ id }) => id),
      ['mid'],
    )
    assert.deepEqual(await children('low'), [])
    await openSession(bench.edges, 'session:top', 'also', null, undefined, undefined, 'top')
    assert.deepEqual(
      (await children('top')).map(({ id }) => id),
      ['also', 'mid'],
    )
    const next = await bench.store.ask({ ask: 'sessions', parent: 'top', after: 'also', limit: 10 })
    assert.deepEqual(
      next.map(({ id }) => id),
      ['mid'],
    )
  })

  behaves('a session opens children of itself only, below a session that is open', async (bench) => {
    await openTree(bench)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.end('host', 'low')
    const before = await snapshotBesidesAudit(bench.store)
    const opening = (actor: Actor, id: string, parent: string) =>
      codeOf(openSession(bench.edges, actor, id, null, undefined, undefined, parent))
    assert.equal(await opening('session:other', 'new', 'top'), 'denied')
    assert.equal(await opening('session:new', 'new', 'top'), 'denied')
    assert.equal(await opening('session:low', 'new', 'mid'), 'denied')
    assert.equal(await opening('session:top', 'other', 'top'), 'denied')
    assert.equal(await opening('host', 'new', 'none'), 'session_unknown')
    assert.equal(await opening('host', 'new', 'low'), 'session_ended')
    assert.equal(await opening('host', 'other', 'top'), 'conflict')
    assert.equal(await opening('host', 'top', 'mid'), 'conflict')
    assert.equal(await opening('host', 'top', 'top'), 'conflict')
    assert.equal(await opening('host', 'new', 'new'), 'session_unknown')
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
    assert.equal(await opening('session:mid', 'mid', 'top'), 'accepted', 'opening it again changes nothing')
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
  })

  behaves('a tree of sessions has a greatest depth', async (bench) => {
    await openSession(bench.edges, 'host', 'd0', null)
    for (const index of times(MAX_SESSION_DEPTH))
      await openSession(bench.edges, 'host', `d${index + 1}`, null, undefined, undefined, `d${index}`)
    const deeper = openSession(
      bench.edges,
      'host',
      'deeper',
      null,
      undefined,
      undefined,
      `d${MAX_SESSION_DEPTH}`,
    )
    assert.equal(await codeOf(deeper), 'limit_exceeded')
  })

  behaves('a session sees the processes of the sessions below it, and no others', async (bench) => {
    await populate(bench)
    assert.deepEqual(await listed(bench, 'session:top'), [...TOP, ...MID, ...LOW])
    assert.deepEqual(await listed(bench, 'session:mid'), [...MID, ...LOW])
    assert.deepEqual(await listed(bench, 'session:low'), LOW)
    assert.deepEqual(await listed(bench, 'session:top', {}, true), [...TOP, ...MID, ...LOW].toReversed())
    assert.deepEqual(await listed(bench, 'session:top', { owner: { session: ['low', 'other'] } }), LOW)
    assert.deepEqual(await listed(bench, 'host', { sessionTree: 'mid' }), [...MID, ...LOW])
    const pids = (actor: Actor) =>
      bench.store.ask({ ask: 'pids', prefix: 'p_low', visibleTo: visibilityOf(actor), limit: 10 })
    assert.deepEqual(await pids('session:top'), LOW.map(pidOf))
    assert.deepEqual(await pids('session:other'), [])
    await bench.performed('appended', { type: 'pause', pid: pidOf('low0'), actor: 'session:top' })
    await bench.refused('denied', { type: 'pause', pid: pidOf('top0'), actor: 'session:low' })
    await bench.refused('denied', { type: 'pause', pid: pidOf('low1'), actor: 'session:other' })
  })

  behaves('ended, moved and pruned processes of the sessions below are listed as they are', async (bench) => {
    await populate(bench)
    await cancel(bench, 'low0', 'session:top')
    const ended = { status: ['cancelled'] } as const
    assert.deepEqual(await listed(bench, 'session:top', ended), ['low0'])
    assert.deepEqual(await listed(bench, 'host', { ...ended, sessionTree: 'mid' }), ['low0'])
    assert.deepEqual(await listed(bench, 'session:mid'), [...MID, 'low1', 'low2'])
    await bench.performed('appended', {
      type: 'change_owner',
      pid: pidOf('low1'),
      owner: { session: 'other' },
    })
    await bench.performed('appended', { type: 'change_owner', pid: pidOf('top0'), owner: { session: 'low' } })
    assert.deepEqual(await listed(bench, 'session:mid'), ['top0', ...MID, 'low2'])
    assert.deepEqual((await bench.row(pidOf('low1'))).record.sessionsAbove, [])
    assert.deepEqual((await bench.row(pidOf('top0'))).record.sessionsAbove, ['mid', 'top'])
    await prune(bench.edges, { pids: [pidOf('low0')] })
    assert.deepEqual(await listed(bench, 'session:top', { status: 'any' }), [...TOP, ...MID, 'low2'])
  })

  behaves('counts and interrupts of a session include the sessions below it', async (bench) => {
    await populate(bench)
    assert.deepEqual(
      await Promise.all(['top', 'mid', 'low', 'other'].map((session) => live(bench, session))),
      [9, 6, 3, 3],
    )
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    const options = { reason: 'enough', tree: false }
    const report = await interruptScope(kernel, 'session:mid', { session: 'mid' }, options)
    assert.ok(!isRefusal(report))
    assert.deepEqual([...report.signalled].sort(), [...MID, ...LOW].map(pidOf).sort())
    assert.deepEqual(await live(bench, 'top'), 3)
    const exact = await interruptScope(kernel, 'host', { session: 'top', turn: 't1' }, options)
    assert.ok(isRefusal(exact) && exact.code === 'not_found', 'a turn belongs to one session')
  })

  behaves('the end of a session ends the sessions below it and their processes', async (bench) => {
    await populate(bench)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.end('session:top', 'mid')
    for (const id of ['mid', 'low'])
      assert.equal((await bench.store.ask({ ask: 'session', id }))?.endedAt, bench.clock.now(), id)
    assert.equal((await bench.store.ask({ ask: 'session', id: 'top' }))?.endedAt, null)
    assert.deepEqual(await listed(bench, 'host'), [...TOP, ...times(3).map((index) => `other${index}`)])
    await allCarried(bench)
  })

  behaves('the next sweep ends the sessions below one whose kernel died', async (bench) => {
    await populate(bench)
    await endSession(bench.edges, 'host', 'top')
    assert.equal((await bench.store.ask({ ask: 'session', id: 'mid' }))?.endedAt, null)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sweep()
    for (const id of ['top', 'mid', 'low']) {
      const session = await bench.store.ask({ ask: 'session', id })
      assert.deepEqual([session?.endedAt !== null, session?.carry], [true, false], id)
    }
    assert.deepEqual(await listed(bench, 'session:top'), [])
    await allCarried(bench)
  })

  behaves('the deletion of a session deletes the sessions below it, also ended ones', async (bench) => {
    await populate(bench)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.end('host', 'low')
    await markDeleted(bench.edges, 'host', 'top')
    await kernel.sweep()
    const left = await bench.store.ask({ ask: 'sessions', after: null, limit: 10 })
    assert.deepEqual(
      left.map(({ id }) => id),
      ['other'],
    )
    await openSession(bench.edges, 'host', 'top', null)
    assert.deepEqual(await bench.store.ask({ ask: 'sessions', parent: 'top', after: null, limit: 10 }), [])
  })

  behaves('a deletion reports what it stopped in all sessions', async (bench) => {
    await populate(bench)
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    const report = await kernel.sessions.delete('host', 'mid')
    assert.deepEqual([...report.stopped].sort(), [...MID, ...LOW].map(pidOf).sort())
    assert.deepEqual(report.preserved, [])
  })

  behaves('a process may be registered into a session below that of its parent', async (bench) => {
    await openTree(bench)
    await bench.register(
      { ...TOOL, owner: { session: 'mid' } },
      { pid: pidOf('agent'), actor: 'session:mid' },
    )
    const child = (session: string) =>
      bench.tryRegister([
        {
          request: { ...TOOL, owner: { session }, parent: pidOf('agent') },
          actor: `process:${pidOf('agent')}`,
        },
      ])
    const [below] = accepted(await child('low'))
    assert.ok(below?.type === 'registered')
    assert.deepEqual(below.row.record.sessionsAbove, ['mid', 'top'])
    assert.equal(refusalOf(await child('top')), 'denied', 'a session above it')
    assert.equal(refusalOf(await child('other')), 'denied')
    const direct = await bench.tryRegister([
      { request: { ...TOOL, owner: { session: 'low' } }, actor: 'session:top' },
    ])
    assert.ok(!isRefusal(direct))
    const upward = await bench.tryRegister([
      { request: { ...TOOL, owner: { session: 'top' } }, actor: 'session:low' },
    ])
    assert.equal(refusalOf(upward), 'denied')
  })
}

/** Opens `top` with the child `mid`, whose child is `low`; and `other`, which has no part in it. */
export async function openTree(bench: Bench): Promise<void> {
  await openSession(bench.edges, 'host', 'top', null)
  await openSession(bench.edges, 'session:top', 'mid', null, undefined, undefined, 'top')
  await openSession(bench.edges, 'session:mid', 'low', null, undefined, undefined, 'mid')
  await openSession(bench.edges, 'host', 'other', null)
}
