import assert from 'node:assert/strict'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { release } from '../../kernel/overflow.ts'
import { readNotices } from '../../kernel/read-notices.ts'
import { openSession } from '../../kernel/sessions.ts'
import { type Asking, type Behaves, type Bench, pidOf, RERUNNABLE, times } from './bench.ts'
import { completed, IN_SESSION, SCOPE } from './notices.ts'
import { snapshotOf } from './sound.ts'

/** Which events make notices, and how a flood of matches, and nothing else, is held back. */
export function inboxSources(behaves: Behaves): void {
  behaves(
    'the person gets a notice about a command without a session only if the command asks for it',
    async (bench) => {
      const line = { run: 'true' }
      const asked: [string, RegistrationRequest][] = [
        ['plain', { kind: 'command', spec: line }],
        ['none', { kind: 'command', spec: { ...line, notify: 'none' } }],
        ['tool', { kind: 'external', spec: { notify: 'complete' } }],
        ['told', { kind: 'command', spec: { ...line, notify: 'complete' } }],
        ['queued', { kind: 'command', spec: { ...line, ready: { port: 1 } } }],
      ]
      for (const [name, request] of asked) {
        await bench.register(request, { pid: pidOf(name) })
        await bench.performed('appended', {
          type: 'stop',
          pid: pidOf(name),
          how: 'cancel',
          reason: 'over',
          cause: null,
          replayKey: 'e',
        })
      }
      const { notices } = await readNotices(bench.edges, { scope: 'human:host', limit: 9 })
      assert.deepEqual(
        notices.map(({ pid, kind }) => [pid, kind]),
        [
          [pidOf('told'), 'completion'],
          [pidOf('queued'), 'completion'],
        ],
      )
    },
  )

  behaves(
    'a match at one offset in the output makes one notice, however often it is reported',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const pid = pidOf('a')
      await registerHeld(bench, pid)
      await bench.performed('appended', matched(pid, 10, 20))
      await bench.performed('kept', matched(pid, 10, 20))
      await bench.performed('kept', matched(pid, 5, 20))
      await bench.performed('appended', matched(pid, 20, 30))
      await bench.refused('stale_fence', matched(pid, 40, 50, 'k_other'))
      const told = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 9 })
      assert.equal(told.length, 2)
      assert.partialDeepStrictEqual(told, [
        { kind: 'watch_match', payload: { offset: 10 } },
        { kind: 'watch_match', payload: { offset: 20 } },
      ])
      assert.equal((await bench.row(pid)).record.watches['errors']?.scannedTo, 30)
    },
  )

  behaves(
    'of 18 matches 15 make notices, one notice says that the rest is held back, and a later one how many',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const pids = times(18).map((index) => pidOf(`m${index}`))
      for (const pid of pids) await registerHeld(bench, pid)
      await registerHeld(bench, pidOf('done'))
      await Promise.all(pids.map((pid) => bench.performed('appended', matched(pid, 0, 9))))
      // Completions and approvals are never held back.
      await bench.performed('appended', awaitsApproval(pidOf('done')))
      await bench.performed('appended', completed(pidOf('done'), { holder: 'k_one', fence: 1 }))
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
      // A refused intent releases nothing.
      const before = await snapshotOf(bench.store)
      await bench.refused('stale_fence', matched(pids[0] ?? '', 30, 40, 'k_other'))
      assert.deepEqual(await snapshotOf(bench.store), before)
      await Promise.all([release(bench.edges, SCOPE), release(bench.edges, SCOPE)])
      assert.equal(await count('overflow_released'), 1)
      const [last] = await bench.store.ask({ ask: 'notices', scope: SCOPE, after: 0, limit: 1, newest: true })
      assert.partialDeepStrictEqual(last, { kind: 'overflow_released', payload: { held: 3 } })
      assert.deepEqual(await bench.store.ask({ ask: 'overflowing', limit: 9 }), [])
      await bench.performed('appended', matched(pids[0] ?? '', 30, 40))
      assert.equal(await count('watch_match'), 16)
    },
  )

  behaves('an approval makes one notice, even if another kernel takes the process over', async (bench) => {
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
    assert.deepEqual(await told(), [], 'other waits make no notice')
    await bench.performed('appended', { type: 'signal', pid, name: 'x', id: '1', value: null })
    await bench.refused('stale_fence', awaitsApproval(pid, { holder: 'k_other', fence: 1 }))
    await bench.performed('appended', awaitsApproval(pid))
    await bench.performed('kept', awaitsApproval(pid))
    await bench.performed('appended', {
      type: 'put_back',
      pid,
      observed: { holder: 'k_one', fence: 1 },
      evidence: 'holder_dead',
      retryAt: 0,
    })
    await claimAndStart(bench.edges, [pid], 'k_two')
    await bench.performed('appended', awaitsApproval(pid, { holder: 'k_two', fence: 2 }))
    assert.deepEqual((await bench.row(pid)).record.wait, {
      on: 'approval',
      name: 'deploy',
      ordinal: 1,
      until: null,
      since: bench.clock.now(),
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
    'a read that must not release leaves matches held back, even if their release is due',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const pids = times(17).map((index) => pidOf(`m${index}`))
      for (const pid of pids) await registerHeld(bench, pid)
      await Promise.all(pids.map((pid) => bench.performed('appended', matched(pid, 0, 9))))
      bench.clock.advance(40_000)
      const before = await snapshotOf(bench.store)
      const reading = { scope: SCOPE, limit: 99 }
      const { nextAt } = await readNotices(bench.edges, { ...reading, releases: false })
      assert.deepEqual(await snapshotOf(bench.store), before)
      assert.ok(nextAt !== null && nextAt > bench.clock.now(), 'the answer says when to read again')
      const { notices } = await readNotices(bench.edges, reading)
      assert.ok(notices.some(({ kind }) => kind === 'overflow_released'))
    },
  )

  behaves(
    'matches that were held back are released by the next kernel after the first one died',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const pids = times(17).map((index) => pidOf(`m${index}`))
      for (const pid of pids) await registerHeld(bench, pid)
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
    },
  )
}

/** Registers a process that a holder executes, so that matches in its output can be reported. */
async function registerHeld(bench: Bench, pid: string): Promise<void> {
  await bench.register(IN_SESSION, { pid, startBy: 'k_one' })
}

function awaitsApproval(pid: string, fence = { holder: 'k_one', fence: 1 }) {
  const wait = { on: 'approval', name: 'deploy', ordinal: 1 } as const
  return { type: 'enter_wait', pid, wait, until: null, fence } as const
}

function matched(pid: string, offset: number, end: number, holder = 'k_one'): Asking {
  const match = { watch: 'errors', wanted: 'ERROR', offset, end, lines: ['ERROR'], more: 0 }
  return {
    type: 'match',
    pid,
    fence: { holder, fence: 1 },
    match: { ...match, heldBack: 0, missed: null, strikes: 0 },
  }
}
