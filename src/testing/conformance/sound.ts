import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type AuditAnchor, type AuditLink, CHAIN_BEGIN } from '../../core/audit/chain.ts'
import type { AuditEntry } from '../../core/audit/entry.ts'
import { entriesIn } from '../../core/audit/link.ts'
import { verifyEnd, verifyPage } from '../../core/audit/verify.ts'
import { groupKeyOf } from '../../core/group/group.ts'
import { delegatedPaths, overlappingPath } from '../../core/lien/lien.ts'
import { objectRows } from '../../core/object/entry.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import { refold } from '../../core/process/fold.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type { Page, Store } from '../../store/contract.ts'

const PAGE = 1_000

/** The invariants that every store keeps at all times. */
export async function assertSound(store: Store): Promise<void> {
  const rows = await allProcesses(store)
  const feed = await allChanges(store)
  const byPid = Map.groupBy(feed, ({ pid }) => pid)
  for (const row of rows) {
    const events = byPid.get(row.record.pid) ?? []
    assertRefolds(row, events)
    assertEndsOnce(row, events)
  }
  for (const { record } of rows.slice(0, CLOSELY)) {
    const events = await store.ask({ ask: 'events', pid: record.pid, after: 0, limit: 100_000 })
    assert.deepEqual(
      byPid.get(record.pid),
      events,
      `the feed has the events of ${record.pid}, in their order`,
    )
  }
  const known = new Set(rows.map(({ record }) => record.pid))
  assert.deepEqual(
    [...byPid.keys()].filter((pid) => !known.has(pid)),
    [],
    'the feed has no other events',
  )
  const { live } = await store.ask({ ask: 'activity', session: null, since: null })
  assert.equal(
    live,
    rows.filter(({ record }) => record.outcome === null).length,
    'live processes are counted',
  )
  for (const scope of scopesOf(rows)) await assertNoticesCaused(store, scope, byPid)
  await assertPathsHeldOnce(store, rows)
  for (const row of rows.slice(0, CLOSELY)) await assertObjectsFound(store, row, byPid)
  await verifiedAudit(store)
}

/** The live agents with paths have their liens, and a path has two holders only if one lent it to the other. */
async function assertPathsHeldOnce(store: Store, rows: readonly ProcessRow[]): Promise<void> {
  const given = rows.flatMap(({ record }) => {
    const paths = record.kind === 'agent' ? delegatedPaths(record) : null
    return paths === null ? [] : [{ record, host: paths.host }]
  })
  for (const host of new Set(given.map((one) => one.host))) {
    const liens = (await store.ask({ ask: 'liens', host }))?.liens ?? []
    const live = given.filter((one) => one.host === host && one.record.outcome === null)
    assert.deepEqual(
      liens.map(({ holder }) => holder).toSorted(),
      live.map(({ record }) => record.pid).toSorted(),
      'the live agents with paths hold them, and no others',
    )
    for (const one of liens)
      for (const other of liens) {
        if (one.holder >= other.holder || isAbove(rows, one.holder, other.holder)) continue
        for (const path of one.paths)
          assert.equal(overlappingPath(other, path, false), undefined, `${path} has one holder`)
      }
  }
}

/** Each event about a name of a namespace is found by the name, and no other. */
async function assertObjectsFound(
  store: Store,
  { record }: ProcessRow,
  byPid: ReadonlyMap<string, readonly StoredEvent[]>,
): Promise<void> {
  const { pid, revision: through } = record
  const expected = Map.groupBy(objectRows(record, byPid.get(pid) ?? []), ({ name }) => name)
  const page = { prefix: '', after: null, through, limit: PAGE }
  const newest = await store.ask({ ask: 'objectEvents', pid, ...page })
  assert.deepEqual(
    newest.map(({ seq }) => seq),
    [...expected.keys()].toSorted().map((name) => expected.get(name)?.at(-1)?.seq),
    `the names of ${pid} are found, in their order`,
  )
  for (const [name, rows] of expected)
    assert.deepEqual(
      (await store.ask({ ask: 'objectVersions', pid, name, through, limit: PAGE })).map(({ seq }) => seq),
      rows.map(({ seq }) => seq).toReversed(),
      `the events about ${pid}/${name} are found`,
    )
}

/** Whether one of two processes is above the other. */
function isAbove(rows: readonly ProcessRow[], one: string, other: string): boolean {
  const parents = new Map(rows.map(({ record }) => [record.pid, record.parent]))
  const line = (pid: string): readonly string[] => {
    const parent = parents.get(pid) ?? null
    return parent === null ? [pid] : [pid, ...line(parent)]
  }
  return line(one).includes(other) || line(other).includes(one)
}

/** How many processes are checked one by one; the others are checked only by the feed. */
const CLOSELY = 25

/** The scopes that may have notices. */
function scopesOf(rows: readonly ProcessRow[]): Set<string> {
  const scopes = new Set<string>()
  for (const { record } of rows) {
    // Messages may be in the inbox of any process.
    if (record.children > 0 || rows.length <= CLOSELY) scopes.add(`process:${record.pid}`)
    for (const session of [record.owner.session, record.wakeTarget])
      if (typeof session === 'string') scopes.add(`session:${session}`)
  }
  return scopes
}

/** A copy of everything in a store, to show that an operation changed nothing. */
export async function snapshotOf(store: Store) {
  const sessions = await store.ask({ ask: 'sessions', after: null, limit: PAGE })
  const processes = await allProcesses(store)
  const scopes = new Set([...sessions.map(({ id }) => `session:${id}`), ...scopesOf(processes)])
  const groups = new Set(
    processes.flatMap(({ record }) => (record.group === null ? [] : groupKeyOf(record.group))),
  )
  const holders = await store.ask({ ask: 'holders' })
  return {
    processes,
    feed: await allChanges(store),
    sessions,
    grants: await store.ask({ ask: 'grants' }),
    holders: holders.map(({ expired: _expired, ...holder }) => holder),
    groups: await Promise.all([...groups].map((id) => store.ask({ ask: 'group', id }))),
    carryingScopes: await store.ask({ ask: 'carryingScopes', limit: PAGE }),
    notices: await Promise.all(
      [...scopes].map((scope) => store.ask({ ask: 'notices', scope, after: 0, limit: PAGE })),
    ),
    accounts: await store.ask({ ask: 'accounts', after: null, limit: PAGE }),
    inboxes: await Promise.all([...scopes].map((scope) => store.ask({ ask: 'inbox', scope }))),
    activity: await store.ask({ ask: 'activity', session: null, since: null }),
    ruleSets: await store.ask({ ask: 'ruleSets', after: null, limit: PAGE }),
    approvals: await store.ask({ ask: 'approvals', after: null, limit: PAGE }),
    audit: await store.ask({ ask: 'auditTail' }),
    auditWindows: await store.ask({ ask: 'auditWindows', before: Number.MAX_SAFE_INTEGER, limit: PAGE }),
  }
}

/** A copy of everything but the audit, to show that a denial changed nothing else. */
export async function snapshotBesidesAudit(store: Store) {
  const { audit: _, auditWindows: __, ...others } = await snapshotOf(store)
  return others
}

/** In order of registration, with ended processes. */
async function allProcesses(store: Store): Promise<ProcessRow[]> {
  const rows: ProcessRow[] = []
  let after: number | null = null
  do {
    const page: { items: readonly ProcessRow[]; next: number | null } = await store.ask({
      ask: 'processes',
      filter: { status: 'any' },
      after,
      limit: PAGE,
    })
    rows.push(...page.items)
    after = page.next
  } while (after !== null)
  return rows
}

export async function allChanges(store: Store, pageSize = PAGE): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (;;) {
    const page = await store.ask({ ask: 'changes', after: events.at(-1)?.position ?? 0, limit: pageSize })
    for (const event of page.events) {
      assert.ok(event.position > (events.at(-1)?.position ?? 0), 'positions rise')
      assert.ok(event.position <= page.position, 'no event lies beyond the last position')
      events.push(event)
    }
    if (page.events.length < pageSize) return events
  }
}

/** The end of the audit's chain, which must be whole. */
export async function verifiedAudit(store: Store): Promise<AuditAnchor> {
  const { start, ...tail } = await store.ask({ ask: 'auditTail' })
  let end: AuditAnchor = start ?? CHAIN_BEGIN
  for (const page of await linkPages(store)) {
    const verified = verifyPage(end, page, [tail], (text) => hash('sha256', text))
    if (verified.type === 'broken') assert.fail(`the audit is broken: ${JSON.stringify(verified)}`)
    end = verified.end
  }
  assert.equal(verifyEnd(end, [tail]), null)
  assert.equal(end.position, tail.position, 'the chain ends where the store says')
  return { position: end.position, hash: end.hash }
}

export async function auditedEntries(store: Store): Promise<AuditEntry[]> {
  return (await linkPages(store)).flat().flatMap(({ text }) => entriesIn(text) ?? [])
}

async function linkPages(store: Store): Promise<(readonly AuditLink[])[]> {
  const pages: (readonly AuditLink[])[] = []
  let after: number | null = null
  do {
    const page: Page<AuditLink> = await store.ask({ ask: 'auditLinks', after, limit: PAGE })
    pages.push(page.items)
    after = page.next
  } while (after !== null)
  return pages
}

function assertRefolds({ record }: ProcessRow, events: readonly StoredEvent[]): void {
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    `the events of ${record.pid} are numbered from 1 without gaps`,
  )
  assert.deepEqual(refold(events), record, `the record of ${record.pid} is the fold of its events`)
}

function assertEndsOnce({ record, holder }: ProcessRow, events: readonly StoredEvent[]): void {
  const ends = events.filter(({ type }) => type === 'ended' || record.eventTypes[type]?.end !== undefined)
  assert.equal(ends.length, record.outcome === null ? 0 : 1, `${record.pid} ended once, or not at all`)
  if (record.outcome === null) return
  assert.equal(ends[0]?.seq, record.revision, `nothing came after the end of ${record.pid}`)
  assert.equal(holder, null, `${record.pid} has ended, and has no holder`)
}

async function assertNoticesCaused(
  store: Store,
  scope: string,
  byPid: ReadonlyMap<string, readonly StoredEvent[]>,
): Promise<void> {
  const notices = await store.ask({ ask: 'notices', scope, after: 0, limit: 100_000 })
  const sources = notices.map(({ pid, seq, kind }) => `${pid} ${seq} ${kind}`)
  assert.equal(new Set(sources).size, sources.length, `${scope} is told of each event once`)
  for (const { pid, seq } of notices)
    assert.equal(byPid.get(pid)?.[seq - 1]?.seq, seq, `the notice of event ${seq} of ${pid} has its event`)
}
