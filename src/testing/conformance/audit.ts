import assert from 'node:assert/strict'
import { auditText } from '../../core/audit/entry.ts'
import { AUDIT_WINDOW_MS, type AuditWindow } from '../../core/audit/window.ts'
import type { Change } from '../../core/change.ts'
import { auditDenial } from '../../kernel/audit.ts'
import { pruneAudit } from '../../kernel/prune-audit.ts'
import { verifyAudit } from '../../kernel/verify-audit.ts'
import { type Commit, know, type Plan, type Questions, type Store } from '../../store/contract.ts'
import { auditEntry, put } from './authority-rows.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, times } from './bench.ts'
import { auditedEntries, verifiedAudit } from './sound.ts'

/** The audit: one chain per store, which every commit extends in order, and the windows beside it. */
export function audit(behaves: Behaves): void {
  const appended = (target: string): Change => ({ type: 'audit', entry: auditEntry({ target }) })
  const targets = async (store: Store) => (await auditedEntries(store)).map(({ target }) => target)

  behaves('the hash of each entry covers the entry and the hash before it', async (bench) => {
    const { hash } = bench.edges
    const odd = { 'über "x"': '🦉 \u0000 \u001e \\ {}', z: 1, a: [null] }
    const [first, second] = [auditEntry({ inputs: odd }), auditEntry({ target: 'net:example.com' })]
    assert.deepEqual(await bench.store.ask({ ask: 'auditTail' }), { position: 0, hash: '', start: null })
    await put(bench.store, { type: 'audit', entry: first })
    await put(bench.store, { type: 'audit', entry: second })
    const [one, two] = [hash(auditText(first)), hash(`${hash(auditText(first))}${auditText(second)}`)]
    const { items } = await bench.store.ask({ ask: 'audit', after: null, limit: 10 })
    assert.deepEqual(items, [
      { position: 1, at: 1, text: auditText(first), hash: one },
      { position: 2, at: 1, text: auditText(second), hash: two },
    ])
    assert.deepEqual(await bench.store.ask({ ask: 'auditTail' }), { position: 2, hash: two, start: null })
    assert.deepEqual(await auditedEntries(bench.store), [first, second])
  })

  behaves(
    'entries are in the order of their changes, in one commit and over a turn of the loop',
    async (bench) => {
      await Promise.all([
        put(bench.store, appended('a'), appended('b'), appended('c')),
        put(bench.store, appended('d')),
        put(bench.store, appended('e'), appended('f')),
      ])
      await put(bench.store, appended('g'))
      assert.deepEqual(await targets(bench.store), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    },
  )

  behaves('a plan reads the entries of the plans before it', async (bench) => {
    const read: Plan<readonly number[]> = function* () {
      const { items } = yield* know({ ask: 'audit', after: null, limit: 10 })
      const { position } = yield* know({ ask: 'auditTail' })
      return { answer: [items.length, position], changes: [appended('read')] }
    }
    const [, first, second] = await Promise.all([
      put(bench.store, appended('a'), appended('b')),
      bench.store.write(read),
      bench.store.write(read),
    ])
    assert.deepEqual(
      [first, second],
      [
        [2, 2],
        [3, 3],
      ],
    )
    assert.deepEqual(await targets(bench.store), ['a', 'b', 'read', 'read'])
    assert.equal((await verifiedAudit(bench.store)).position, 4)
  })

  behaves('several connections that append at once extend one chain', async (bench) => {
    const stores = [bench.store, await bench.open(), await bench.open()]
    for (const text of ['a', 'b', 'c']) await bench.register(OUTSIDE, { pid: pidOf(text) })
    await Promise.all(
      stores.map(async (store, index) => {
        const edges = bench.edgesOver(store)
        for (const round of times(30)) {
          const entries = times(1 + (round % 3)).map((part) => appended(`${index} ${round} ${part}`))
          await Promise.all([
            put(store, ...entries),
            bench.perform({ type: 'change_cwd', pid: pidOf('abc'.charAt(index)), cwd: `/${round}` }, edges),
          ])
        }
      }),
    )
    assert.equal((await verifiedAudit(bench.store)).position, 180)
    const found = await targets(bench.store)
    for (const index of times(3)) {
      const own = found.filter((target) => target.startsWith(`${index} `))
      const expected = times(30).flatMap((round) =>
        times(1 + (round % 3)).map((part) => `${index} ${round} ${part}`),
      )
      assert.deepEqual(own, expected)
    }
  })

  behaves('an entry is no event: the feed does not move, and no listener is given one', async (bench) => {
    const commits: Commit[] = []
    const stop = bench.store.onCommit((commit) => commits.push(commit))
    await put(bench.store, appended('before'))
    await put(bench.store, appended('again'))
    assert.deepEqual(await bench.store.ask({ ask: 'changes', after: 0, limit: 10 }), {
      events: [],
      position: 0,
      prunedThrough: 0,
    })
    await Promise.all([bench.register(OUTSIDE, { pid: pidOf('a') }), put(bench.store, appended('with'))])
    stop()
    const told = commits.map(({ after, position, events }) => [after, position, events?.length])
    assert.deepEqual(told, [[0, 1, 1]])
    assert.deepEqual(await targets(bench.store), ['before', 'again', 'with'])
  })

  behaves('a plan that cannot be committed leaves no entry, and the chain goes on', async (bench) => {
    const row = await bench.register(OUTSIDE, { pid: pidOf('a') })
    await put(bench.store, appended('first'))
    const impossible = put(bench.store, appended('impossible'), {
      type: 'process',
      was: null,
      row,
      events: [],
    })
    const [refused] = await Promise.allSettled([impossible, put(bench.store, appended('second'))])
    assert.equal(refused.status, 'rejected')
    await put(bench.store, appended('third'))
    assert.deepEqual(await targets(bench.store), ['first', 'second', 'third'])
  })

  const filtered = (index: number): Change => ({
    type: 'audit',
    entry: auditEntry({
      at: 100 + index,
      actor: `session:s${index % 2}`,
      target: index < 4 ? 'shell:git' : 'shell:rm "x"',
      decision: index % 3 === 0 ? 'denied' : 'allowed',
      // Not the actor of the entry.
      inputs: { actor: 'session:s1', target: 'shell:rm "x"', decision: 'denied' },
    }),
  })
  const expectPages = async (bench: Bench) => {
    const all = async (wanted: Partial<Questions['audit'][0]>) => readAll(bench, wanted)
    assert.deepEqual(await all({}), [1, 2, 3, 4, 5, 6, 7])
    assert.deepEqual(await all({ newestFirst: true }), [7, 6, 5, 4, 3, 2, 1])
    assert.deepEqual(await all({ actor: 'session:s1' }), [2, 4, 6])
    assert.deepEqual(await all({ actor: 'session:s' }), [])
    assert.deepEqual(await all({ target: 'shell:rm "x"' }), [5, 6, 7])
    assert.deepEqual(await all({ decision: 'denied' }), [1, 4, 7])
    assert.deepEqual(await all({ since: 103 }), [4, 5, 6, 7])
    assert.deepEqual(await all({ since: 103, actor: 'session:s0', newestFirst: true }), [7, 5])
    assert.deepEqual(await all({ after: 5 }), [6, 7])
    assert.deepEqual(await all({ after: 3, newestFirst: true }), [2, 1])
  }

  behaves('the audit is read in pages, in both directions, with filters', async (bench) => {
    for (const index of times(7)) await put(bench.store, filtered(index))
    await expectPages(bench)
  })

  behaves('entries of one commit are read in pages, in both directions, with filters', async (bench) => {
    await put(bench.store, ...times(7).map(filtered))
    await expectPages(bench)
    await verifiedAudit(bench.store)
  })

  behaves(
    'of several commits with several entries each, every page has the entries in order',
    async (bench) => {
      for (const round of times(4))
        await put(bench.store, ...times(3).map((part) => filtered(round * 3 + part)))
      const all = times(12).map((index) => index + 1)
      for (const limit of [1, 2, 5, 11, 12, 13]) {
        assert.deepEqual(await readAll(bench, { limit }), all)
        assert.deepEqual(await readAll(bench, { limit, newestFirst: true }), all.toReversed())
        assert.deepEqual(await readAll(bench, { limit, after: 4 }), all.slice(4))
        assert.deepEqual(
          await readAll(bench, { limit, after: 9, newestFirst: true }),
          all.slice(0, 8).toReversed(),
        )
        assert.deepEqual(await readAll(bench, { limit, since: 107 }), all.slice(7))
      }
    },
  )

  behaves('retention keeps the entries of a commit together, and the rest verifies', async (bench) => {
    const at = (index: number) => bench.clock.now() + index
    const entry = (index: number): Change => ({
      type: 'audit',
      entry: auditEntry({ at: at(index), target: `e${index}` }),
    })
    await put(bench.store, ...times(5).map((index) => entry(index + 1)))
    await put(bench.store, ...times(3).map((index) => entry(index + 6)))
    // A store that chains each entry by itself removes four.
    const { removed } = await pruneAudit(bench.edges, { keep: 4 })
    assert.ok(removed <= 4, `${removed} of 8 were removed, and 4 should stay`)
    assert.deepEqual((await targets(bench.store)).slice(-4), ['e5', 'e6', 'e7', 'e8'])
    await pruneAudit(bench.edges, { before: at(6) })
    assert.deepEqual(await targets(bench.store), ['e6', 'e7', 'e8'])
    await put(bench.store, entry(9))
    assert.equal((await verifyAudit(bench.edges, [])).type, 'sound')
    await verifiedAudit(bench.store)
  })

  behaves('a pruned audit begins after its start, and the chain goes on', async (bench) => {
    const prunedThrough = async (position: number) => {
      const { items } = await bench.store.ask({ ask: 'audit', after: position - 1, limit: 1 })
      const start = { position, hash: items[0]?.hash ?? '', signature: `signed ${position}` }
      await put(bench.store, { type: 'audit_pruned', start })
      return start
    }
    for (const index of times(5)) await put(bench.store, appended(`e${index + 1}`))
    const start = await prunedThrough(3)
    assert.deepEqual(await targets(bench.store), ['e4', 'e5'])
    assert.deepEqual(await readAll(bench, {}), [4, 5])
    assert.deepEqual(await readAll(bench, { newestFirst: true }), [5, 4])
    const tail = await bench.store.ask({ ask: 'auditTail' })
    assert.deepEqual([tail.position, tail.start], [5, start])
    await put(bench.store, { type: 'audit_pruned', start: { position: 1, hash: 'x', signature: 'late' } })
    assert.deepEqual((await bench.store.ask({ ask: 'auditTail' })).start, start)
    await put(bench.store, appended('e6'))
    await prunedThrough(6)
    assert.deepEqual(await readAll(bench, {}), [])
    assert.deepEqual(await readAll(bench, { newestFirst: true }), [])
    await put(await bench.open(), appended('e7'))
    assert.deepEqual(await targets(bench.store), ['e7'])
    assert.equal((await verifiedAudit(bench.store)).position, 7)
  })

  behaves('retention removes the oldest entries by number and age, and the rest verifies', async (bench) => {
    const at = (index: number) => bench.clock.now() + index
    for (const index of times(10))
      await put(bench.store, { type: 'audit', entry: auditEntry({ at: at(index), target: `e${index + 1}` }) })
    const { items } = await bench.store.ask({ ask: 'audit', after: null, limit: 10 })
    const anchors = items.map(({ position, hash }) => ({ position, hash }))
    assert.deepEqual(await pruneAudit(bench.edges, { keep: 20 }), { removed: 0, start: null })
    assert.deepEqual(await pruneAudit(bench.edges, { keep: 8 }), { removed: 2, start: anchors[1] })
    assert.deepEqual(await pruneAudit(bench.edges, { before: at(4) }), { removed: 2, start: anchors[3] })
    assert.deepEqual(await pruneAudit(bench.edges, { before: at(4), keep: 9 }), {
      removed: 0,
      start: anchors[3],
    })
    assert.deepEqual(await targets(bench.store), ['e5', 'e6', 'e7', 'e8', 'e9', 'e10'])
    const sound = { type: 'sound', end: anchors[9], start: 4 }
    assert.deepEqual(await verifyAudit(bench.edges, anchors), sound, 'with the anchors of removed entries')
    const wrong = anchors.map((anchor) => (anchor.position === 4 ? { ...anchor, hash: 'x' } : anchor))
    assert.equal((await verifyAudit(bench.edges, wrong)).type, 'broken')
    assert.deepEqual(await pruneAudit(bench.edges, { keep: 0 }, { by: 'human:ada' }), {
      removed: 6,
      start: anchors[9],
    })
    const [entry] = await auditedEntries(bench.store)
    assert.deepEqual(
      [entry?.actor, entry?.action, entry?.inputs],
      ['human:ada', 'prune', { removed: 6, through: 10 }],
    )
    assert.equal((await verifyAudit(bench.edges, anchors)).type, 'sound')
  })

  behaves('entries behind one that a fast clock wrote stay until that one is old', async (bench) => {
    for (const at of [10, 500, 20, 30])
      await put(bench.store, { type: 'audit', entry: auditEntry({ at, target: `at ${at}` }) })
    assert.equal((await pruneAudit(bench.edges, { before: 100 })).removed, 1)
    assert.deepEqual(await targets(bench.store), ['at 500', 'at 20', 'at 30'])
    assert.equal((await pruneAudit(bench.edges, { before: 501 })).removed, 3)
  })

  behaves('an unsigned start does not verify', async (bench) => {
    for (const index of times(3)) await put(bench.store, appended(`e${index}`))
    const { items } = await bench.store.ask({ ask: 'audit', after: 1, limit: 1 })
    const start = { position: 2, hash: items[0]?.hash ?? '', signature: 'forged' }
    await put(bench.store, { type: 'audit_pruned', start })
    assert.deepEqual(await verifyAudit(bench.edges, []), { type: 'broken', from: 1, reason: 'unsigned' })
  })

  behaves(
    'a removal that makes an entry keeps as many as it should, and is no cause of another',
    async (bench) => {
      for (const index of times(9)) await put(bench.store, appended(`e${index + 1}`))
      const limits = { keep: 4, makesEntry: true } as const
      const by = 'kernel:k1'
      assert.equal((await pruneAudit(bench.edges, limits, { by })).removed, 6)
      assert.deepEqual(await targets(bench.store), ['e7', 'e8', 'e9', 'audit'])
      assert.equal((await pruneAudit(bench.edges, limits, { by })).removed, 0)
      await put(bench.store, appended('e10'))
      assert.equal((await pruneAudit(bench.edges, limits, { by })).removed, 2)
      assert.deepEqual(await targets(bench.store), ['e9', 'audit', 'e10', 'audit'])
      assert.equal((await verifyAudit(bench.edges, [])).type, 'sound')
    },
  )

  behaves('several kernels that remove entries at once leave one sound chain', async (bench) => {
    await put(bench.store, ...times(200).map((index) => appended(`e${index}`)))
    const stores = [bench.store, await bench.open(), await bench.open()]
    await Promise.all(
      stores.map(async (store, index) => {
        for (const keep of [150, 90, 40, 10]) {
          await pruneAudit(bench.edgesOver(store), { keep })
          await put(store, appended(`${index} ${keep}`))
        }
      }),
    )
    await verifiedAudit(bench.store)
    assert.equal((await verifyAudit(bench.edges, [])).type, 'sound')
  })

  behaves('the next kernel appends the total of a window whose kernel died', async (bench) => {
    const denial = auditEntry({ at: bench.clock.now(), decision: 'denied' })
    const dying = await bench.kernel({ id: 'k_dying', serves: [] })
    for (const _ of times(5)) await auditDenial(bench.edges, denial)
    bench.kill(dying)
    assert.equal((await auditedEntries(bench.store)).length, 1)
    bench.clock.advance(AUDIT_WINDOW_MS)
    const { kernel } = await bench.kernel({ id: 'k_next', serves: [] })
    await kernel.sweep()
    const entries = await auditedEntries(bench.store)
    assert.deepEqual(
      entries.map(({ decision, inputs }) => [decision, inputs['repeats']]),
      [
        ['denied', undefined],
        ['repeated', 4],
      ],
    )
  })

  behaves('repeated denials are counted outside of the chain, through several connections', async (bench) => {
    const stores = [bench.store, await bench.open(), await bench.open()]
    const key = 'session:s1 spawn shell:git'
    const deny: Plan<void> = function* () {
      const was = yield* know({ ask: 'auditWindow', key })
      const opened: AuditWindow = { key, openedAt: 7, repeats: 0, entry: auditEntry() }
      const window = was === null ? opened : { ...was, repeats: was.repeats + 1 }
      const first: Change[] = was === null ? [{ type: 'audit', entry: opened.entry }] : []
      return { answer: undefined, changes: [...first, { type: 'audit_window', was, window }] }
    }
    await Promise.all(times(60).map((index) => stores[index % 3]?.write(deny)))
    const window = { key, openedAt: 7, repeats: 59, entry: auditEntry() }
    assert.deepEqual(await bench.store.ask({ ask: 'auditWindow', key }), window)
    assert.equal((await auditedEntries(bench.store)).length, 1)
    await put(bench.store, {
      type: 'audit_window',
      was: null,
      window: { ...window, key: 'earlier', openedAt: 2 },
    })
    const before = async (time: number, limit = 10) =>
      (await bench.store.ask({ ask: 'auditWindows', before: time, limit })).map((found) => found.key)
    assert.deepEqual(await before(7), ['earlier'])
    assert.deepEqual(await before(8), ['earlier', key])
    assert.deepEqual(await before(8, 1), ['earlier'])
    await put(bench.store, { type: 'audit_window_gone', key })
    assert.deepEqual(await before(8), ['earlier'])
    assert.equal(await stores[1]?.ask({ ask: 'auditWindow', key }), null)
  })
}

/** The positions on all pages, of two entries each if no other limit is given. */
async function readAll(bench: Bench, wanted: Partial<Questions['audit'][0]>): Promise<number[]> {
  const found: number[] = []
  let after = wanted.after ?? null
  for (;;) {
    const { items, next } = await bench.store.ask({ ask: 'audit', limit: 2, ...wanted, after })
    assert.ok(items.length <= (wanted.limit ?? 2))
    found.push(...items.map(({ position }) => position))
    if (next === null) return found
    after = next
  }
}
