import assert from 'node:assert/strict'
import { TOMBSTONE_MS, UNREAD_MS } from '../../core/process/prune.ts'
import type { Scope } from '../../core/process/record.ts'
import { acknowledge } from '../../kernel/acknowledge.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { type PruneBatch, type PruneOptions, prune, pruneInBatches } from '../../kernel/prune.ts'
import { readNotices } from '../../kernel/read-notices.ts'
import { endSession, openSession } from '../../kernel/sessions.ts'
import { accepted, type Behaves, type Bench, OUTSIDE, pidOf, refusalOf, TOOL, times } from './bench.ts'

/** Processes that are exempt from pruning, and for how long: a live process keeps the processes that it refers to. */
export function pruneExemptions(behaves: Behaves): void {
  const abandon = (bench: Bench, text: string) =>
    bench.performed('appended', { type: 'request_abandon', pid: pidOf(text), reason: 'gone' })

  behaves(
    'an ended child is kept until its parent ends, if the parent is code that may look for it again',
    async (bench) => {
      for (const kind of ['workflow', 'tool'] as const) {
        const parent = pidOf(kind)
        const child = pidOf(`${kind}b`)
        await bench.register({ kind, spec: { [kind]: 'work' } } as typeof TOOL, { pid: parent })
        await bench.register({ ...OUTSIDE, parent }, { pid: child })
        await abandon(bench, `${kind}b`)
        assert.deepEqual(await keptBy(bench, { pids: [child] }), [[child, 'live_parent']])
        await abandon(bench, kind)
        assert.deepEqual(await prune(bench.edges, { keep: 0 }), [child])
      }
    },
  )

  behaves('what a tool call of an agent started is kept until the agent ends', async (bench) => {
    const [agent, call, command] = [pidOf('a'), pidOf('b'), pidOf('c')]
    await bench.register({ kind: 'agent', spec: { agent: 'coder' } }, { pid: agent })
    await bench.register({ ...TOOL, parent: agent }, { pid: call })
    await bench.register({ ...OUTSIDE, parent: call, lifetime: 'detached' }, { pid: command })
    await abandon(bench, 'c')
    await abandon(bench, 'b')
    assert.deepEqual(await keptBy(bench, { pids: [command] }), [[command, 'live_parent']])
    await abandon(bench, 'a')
    assert.deepEqual(await prune(bench.edges, { pids: [command] }), [command])
  })

  behaves('an ended child of an external process is pruned', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.register({ ...OUTSIDE, parent: pidOf('a') }, { pid: pidOf('b') })
    await abandon(bench, 'b')
    assert.deepEqual(await prune(bench.edges, { pids: [pidOf('b')] }), [pidOf('b')])
  })

  behaves('a process that a live one waits for is kept during the wait', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.register({ kind: 'workflow', spec: { workflow: 'work' } }, { pid: pidOf('w') })
    await bench.announce('h1', 60_000)
    const [claimed] = await claimAndStart(bench.edges, [pidOf('w')], 'h1')
    const fence = { holder: 'h1', fence: claimed?.fence ?? 0 }
    const wait = { on: 'child', name: pidOf('a'), ordinal: 1, stepIndex: 1 } as const
    await bench.performed('appended', { type: 'enter_wait', pid: pidOf('w'), fence, wait, until: null })
    await abandon(bench, 'a')
    assert.deepEqual(await keptBy(bench, { keep: 0 }), [[pidOf('a'), 'referenced']])
    const leave = { type: 'leave_wait', pid: pidOf('w'), fence, wait, how: 'ended', value: null } as const
    await bench.performed('appended', leave)
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('a')])
  })

  behaves('the predecessor of a restarted process is kept until the restart ends', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await abandon(bench, 'a')
    await bench.register({ ...OUTSIDE, restartOf: pidOf('a') }, { pid: pidOf('b') })
    assert.deepEqual(await keptBy(bench, { pids: [pidOf('a')] }), [[pidOf('a'), 'referenced']])
    await abandon(bench, 'b')
    assert.deepEqual((await prune(bench.edges, { keep: 0 })).sort(), [pidOf('a'), pidOf('b')])
  })

  const told = async (bench: Bench, scope: Scope) => {
    const { notices } = await readNotices(bench.edges, { scope, limit: 10 })
    return notices.map(({ position }) => position)
  }
  const endedIn = async (bench: Bench, texts: readonly string[]) => {
    await openSession(bench.edges, 'host', 's1', null)
    for (const text of texts) {
      await bench.register({ ...OUTSIDE, owner: { session: 's1' } }, { pid: pidOf(text) })
      await abandon(bench, text)
    }
  }

  behaves('a process with an unread notice is kept until the notice is acknowledged', async (bench) => {
    await endedIn(bench, ['a', 'b', 'c'])
    const kept = (texts: readonly string[]) => texts.map((text) => [pidOf(text), 'unread'])
    const endedBefore = bench.clock.now() + 1
    assert.deepEqual(await keptBy(bench, { keep: 0 }), kept(['a', 'b', 'c']))
    assert.deepEqual(await keptBy(bench, { endedBefore }), kept(['a', 'b', 'c']))
    const scope = 'session:s1'
    const positions = await told(bench, scope)
    await acknowledge(bench.edges, { scope, consumer: 'one', positions: positions.slice(1, 2) })
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('b')])
    await acknowledge(bench.edges, { scope, consumer: 'one', through: positions[0] ?? 0 })
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('a')])
    assert.deepEqual(await keptBy(bench, { keep: 0 }), kept(['c']))
    assert.deepEqual(await prune(bench.edges, { pids: [pidOf('c')] }), [pidOf('c')])
  })

  behaves('a notice that is unread for 90 days keeps its process no longer', async (bench) => {
    await endedIn(bench, ['a'])
    bench.clock.advance(UNREAD_MS - 1)
    assert.deepEqual(await keptBy(bench, { keep: 0 }), [[pidOf('a'), 'unread']])
    bench.clock.advance(1)
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('a')])
  })

  behaves('notices to an ended session keep no process', async (bench) => {
    await endedIn(bench, ['a'])
    await endSession(bench.edges, 'host', 's1')
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('a')])
  })

  behaves('notices to a process keep its children until it ends', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await bench.register({ ...OUTSIDE, parent: pidOf('a') }, { pid: pidOf('b') })
    await abandon(bench, 'b')
    assert.deepEqual(await keptBy(bench, { keep: 0 }), [[pidOf('b'), 'unread']])
    await abandon(bench, 'a')
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('b')])
  })

  behaves('notices to a person keep no process', async (bench) => {
    await bench.register({ kind: 'command', spec: { run: 'ls', notify: 'always' } }, { pid: pidOf('a') })
    await abandon(bench, 'a')
    assert.equal((await told(bench, 'human:host')).length, 1)
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('a')])
  })

  behaves('a process is never pruned by the commit that ended it', async (bench) => {
    const pid = pidOf('a')
    await bench.register(OUTSIDE, { pid })
    // Both plans may be committed together here; otherwise the next commit prunes.
    const [, [batch]] = await Promise.all([abandon(bench, 'a'), batchesOf(bench, { pids: [pid] })])
    const isKept = (await bench.store.ask({ ask: 'process', pid })) !== null
    assert.deepEqual(batch, {
      pruned: isKept ? [] : [pid],
      kept: isKept ? [{ pid, reason: 'just_ended' }] : [],
    })
    if (isKept) assert.deepEqual(await prune(bench.edges, { pids: [pid] }), [pid])
    const { position, prunedThrough } = await bench.store.ask({ ask: 'changes', after: 0, limit: 1 })
    assert.equal(prunedThrough, position, 'followers learn that the end was pruned')
  })

  behaves(
    'processes are pruned by pid, and the answer gives the reason for each that is kept',
    async (bench) => {
      for (const text of ['a', 'b', 'c']) await bench.register(OUTSIDE, { pid: pidOf(text) })
      for (const text of ['a', 'b']) await abandon(bench, text)
      const pids = ['a', 'c', 'absent'].map(pidOf)
      assert.deepEqual(await batchesOf(bench, { pids }), [
        { pruned: [pidOf('a')], kept: [{ pid: pidOf('c'), reason: 'live' }] },
      ])
      assert.equal((await bench.row(pidOf('b'))).record.status, 'abandoned')
      assert.deepEqual(await batchesOf(bench, { pids: [pidOf('a')] }), [{ pruned: [], kept: [] }])
    },
  )

  behaves('processes that are kept do not stop later ones from being pruned', async (bench) => {
    await bench.register(TOOL, { pid: pidOf('parent') })
    const kept = times(130).map((index) => pidOf(`k${index}`))
    accepted(
      await bench.tryRegister(kept.map((pid) => ({ pid, request: { ...OUTSIDE, parent: pidOf('parent') } }))),
    )
    for (const pid of kept) await abandon(bench, pid.slice(2).replace(/z+$/, ''))
    bench.clock.advance(1_000)
    await bench.register(OUTSIDE, { pid: pidOf('last') })
    await abandon(bench, 'last')
    assert.deepEqual(await prune(bench.edges, { keep: 0 }), [pidOf('last')])
  })

  behaves('a pid is refused for 90 days after it was pruned, and free afterwards', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    await abandon(bench, 'a')
    await prune(bench.edges, { keep: 0 })
    bench.clock.advance(TOMBSTONE_MS)
    await prune(bench.edges, { keep: 0 })
    assert.equal(refusalOf(await bench.tryRegister([{ pid: pidOf('a') }])), 'pruned_pid')
    bench.clock.advance(1)
    await prune(bench.edges, { keep: 0 })
    await bench.register(OUTSIDE, { pid: pidOf('a') })
  })
}

async function batchesOf(bench: Bench, options: PruneOptions): Promise<PruneBatch[]> {
  const batches: PruneBatch[] = []
  for await (const batch of pruneInBatches(bench.edges, options)) batches.push(batch)
  return batches
}

/** Prunes, asserts that no process was removed, and returns each kept process with the reason. */
async function keptBy(bench: Bench, options: PruneOptions): Promise<(readonly [string, string])[]> {
  const batches = await batchesOf(bench, options)
  assert.deepEqual(
    batches.flatMap(({ pruned }) => pruned),
    [],
  )
  return batches.flatMap(({ kept }) => kept.map(({ pid, reason }) => [pid, reason] as const))
}
