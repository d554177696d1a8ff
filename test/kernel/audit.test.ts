import { openMemory, testEdges } from 'reeve/testing'
import { expect, onTestFinished, test } from 'vitest'
import { type AuditStart, auditStartText, CHAIN_BEGIN } from '../../src/core/audit/chain.ts'
import type { AuditEntry } from '../../src/core/audit/entry.ts'
import { AUDIT_WINDOW_MS } from '../../src/core/audit/window.ts'
import { auditDenial, closeAuditWindows, PlannedAudit } from '../../src/kernel/audit.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import { pruneAudit } from '../../src/kernel/prune-audit.ts'
import { verifyAudit } from '../../src/kernel/verify-audit.ts'
import type { Store } from '../../src/store/contract.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { put } from '../../src/testing/conformance/authority-rows.ts'
import { auditedEntries, verifiedAudit } from '../../src/testing/conformance/sound.ts'
import { embedTemp } from '../embed-temp.ts'
import { tempStore } from '../temp-folder.ts'

function edgesOver(store: Store): Edges & { passMs(ms: number): void } {
  onTestFinished(() => store.close())
  let time = 1_000_000
  const edges = testEdges(store)
  const passMs = (ms: number) => {
    time += ms
  }
  return { ...edges, clock: { ...edges.clock, now: () => time }, passMs }
}

function denial({ clock }: Edges, target = 'shell:git'): AuditEntry {
  return {
    at: clock.now(),
    actor: 'session:s1',
    action: 'spawn',
    target,
    decision: 'denied',
    rule: null,
    reason: null,
    inputs: {},
    trace: null,
  }
}

const decisions = async ({ store }: Edges) =>
  (await auditedEntries(store)).map(({ decision, inputs }) => [decision, inputs['repeats'] ?? null])

test('thousands of equal denials are one entry and one window, whose total is appended when it is over', async () => {
  const edges = edgesOver(await openSqlite(tempStore()))
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 100 }, () => auditDenial(edges, denial(edges))))
  expect(await decisions(edges)).toEqual([['denied', null]])
  await closeAuditWindows(edges)
  expect(await decisions(edges)).toEqual([['denied', null]])
  edges.passMs(AUDIT_WINDOW_MS)
  await closeAuditWindows(edges)
  await closeAuditWindows(edges)
  expect(await decisions(edges)).toEqual([
    ['denied', null],
    ['repeated', 1_999],
  ])
  expect(await edges.store.ask({ ask: 'auditWindows', before: Number.MAX_SAFE_INTEGER, limit: 10 })).toEqual(
    [],
  )
  await auditDenial(edges, denial(edges))
  expect(await decisions(edges)).toHaveLength(3)
  await verifiedAudit(edges.store)
})

test('denials of one plan are counted together', async () => {
  const edges = edgesOver(await openMemory())
  await edges.store.write<void>(function* () {
    const audit = new PlannedAudit(edges)
    for (const target of ['a', 'b', 'a', 'a']) yield* audit.deny(denial(edges, target))
    return { answer: undefined, changes: audit.changes }
  })
  await auditDenial(edges, denial(edges, 'b'))
  expect((await auditedEntries(edges.store)).map(({ target }) => target)).toEqual(['a', 'b'])
  const windows = await edges.store.ask({
    ask: 'auditWindows',
    before: Number.MAX_SAFE_INTEGER,
    limit: 10,
  })
  expect(windows.map(({ entry, repeats }) => [entry.target, repeats]).sort()).toEqual([
    // The different denials of the actor.
    ['*', 1],
    ['a', 2],
    ['b', 1],
  ])
})

test('a chain that Reeve has pruned is sound, unless its signed start was changed or differs from an anchor', async () => {
  const edges = edgesOver(await openMemory())
  for (const target of ['a', 'b', 'c', 'd']) await auditDenial(edges, denial(edges, target))
  const { items } = await edges.store.ask({ ask: 'audit', after: null, limit: 10 })
  const anchors = items.map(({ position, hash }) => ({ position, hash }))
  const { position, hash } = anchors[1] ?? CHAIN_BEGIN
  const secret = await edges.store.ask({ ask: 'secret' })
  const prune = (start: AuditStart) => put(edges.store, { type: 'audit_pruned', start })
  await prune({ position, hash, signature: edges.sign(secret, auditStartText({ position, hash })) })
  expect(await verifyAudit(edges, anchors)).toMatchObject({ type: 'sound', end: anchors[3] })
  const other = anchors.map((anchor) => (anchor.position === 2 ? { position, hash: 'other' } : anchor))
  expect(await verifyAudit(edges, other)).toEqual({ type: 'broken', from: 1, reason: 'rewritten' })
  await prune({ position: 3, hash: anchors[2]?.hash ?? '', signature: edges.sign('guessed', 'text') })
  expect(await verifyAudit(edges, anchors)).toEqual({ type: 'broken', from: 1, reason: 'unsigned' })
})

test('a start that the secret of the store signs does not verify where the home has a key, unless the home noted it', async () => {
  const edges = { ...edgesOver(await openMemory()), auditKey: () => 'key of the home' }
  for (const target of ['a', 'b', 'c', 'd']) await auditDenial(edges, denial(edges, target))
  expect(await pruneAudit(edges, { keep: 3 })).toMatchObject({ removed: 1, start: { position: 1 } })
  expect(await verifyAudit(edges, [])).toMatchObject({ type: 'sound', start: 1 })
  // A program without a home cannot tell.
  expect(await verifyAudit({ ...edges, auditKey: () => null }, [])).toMatchObject({ type: 'sound', start: 1 })
  expect(await verifyAudit({ ...edges, auditKey: () => 'key of another home' }, [])).toMatchObject({
    type: 'broken',
    reason: 'unsigned',
  })
  const { items } = await edges.store.ask({ ask: 'audit', after: null, limit: 1 })
  const [first] = items
  const place = { position: 2, hash: first?.hash ?? '' }
  const secret = await edges.store.ask({ ask: 'secret' })
  for (const forged of [
    edges.sign(secret, auditStartText(place)),
    `home ${edges.sign('x', auditStartText(place))}`,
  ]) {
    await put(edges.store, { type: 'audit_pruned', start: { ...place, signature: forged } })
    expect(await verifyAudit(edges, [])).toMatchObject({ type: 'broken', reason: 'unsigned' })
    expect(await verifyAudit(edges, [place])).toMatchObject({ type: 'broken', reason: 'unsigned' })
    expect(await verifyAudit(edges, [{ ...place, isStart: true }])).toMatchObject({ type: 'sound', start: 2 })
  }
})

test('more windows than a page are all closed', async () => {
  const edges = edgesOver(await openMemory())
  for (let index = 0; index < 250; index++)
    for (const _ of ['first', 'repeated'])
      await auditDenial(edges, { ...denial(edges, 't'), actor: `session:s${index}` })
  edges.passMs(AUDIT_WINDOW_MS)
  await closeAuditWindows(edges)
  expect((await decisions(edges)).filter(([decision]) => decision === 'repeated')).toHaveLength(250)
})

test('a total that an earlier kernel has not appended is appended after the next start', async () => {
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const edges = testEdges(store)
  const at = Date.now() - 2 * AUDIT_WINDOW_MS
  for (const _ of ['first', 'second', 'third']) await auditDenial(edges, { ...denial(edges), at })
  expect(await decisions(edges)).toEqual([['denied', null]])
  await embedTemp({ store })
  await expect
    .poll(() => decisions(edges))
    .toEqual([
      ['denied', null],
      ['repeated', 2],
    ])
})
