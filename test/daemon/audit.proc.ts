import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { connect, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { auditStartText } from '../../src/core/audit/chain.ts'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { HASHES } from '../../src/embed/node-edges.ts'
import { CommandLine } from '../cli/command-line.ts'
import { newStores } from '../crash/new-stores.ts'
import { ask } from '../server/ask.ts'
import { TempReeve } from '../temp-reeve.ts'

/** Appends an entry for each process that it makes visible to a session. */
async function appendEntries(
  { reeve }: Pick<Daemon, 'reeve'> | { reeve: Reeve },
  count: number,
): Promise<void> {
  const { processes } = await reeve.spawnMany({
    processes: Array.from(
      { length: count },
      () => ({ kind: 'external', spec: { description: 'x' } }) as const,
    ),
  })
  // Without a session, which a preset would make an entry of its own.
  for (const { record } of processes) await reeve.show({ pid: record.pid, reveal: true })
}

interface Anchor {
  readonly position: number
  readonly hash: string
  readonly start?: true
}

/** The ends that the home has noted. */
function anchorsOf({ auditAnchors }: TempReeve['home']): Anchor[] {
  return anchorsIn(auditAnchors).filter(({ start = false }) => !start)
}

function anchorsIn(path: string): Anchor[] {
  try {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Anchor)
  } catch {
    return []
  }
}

/** The starts that the home has noted. */
function startsOf({ auditAnchors }: TempReeve['home']): Anchor[] {
  return anchorsIn(auditAnchors).filter(({ start = false }) => start)
}

const stores = {
  SQLite: async (temp: TempReeve) => ({
    store: temp.home.store,
    rowOf: async (query: string) => {
      const db = new DatabaseSync(temp.home.store, { timeout: 10_000 })
      const row: Record<string, unknown> = db.prepare(query).get() ?? {}
      db.close()
      return row
    },
    run: async (statement: string) => {
      const db = new DatabaseSync(temp.home.store, { timeout: 10_000 })
      db.exec(statement)
      db.close()
    },
  }),
  PostgreSQL: async () => {
    const store = await newStores.PostgreSQL()
    return {
      store,
      rowOf: async (query: string) => {
        const sql = postgres(store, { max: 1, onnotice: () => undefined })
        await sql.unsafe('set search_path to reeve')
        const [row = {}]: Record<string, unknown>[] = await sql.unsafe(query)
        await sql.end()
        return row
      },
      run: async (statement: string) => {
        const sql = postgres(store, { max: 1, onnotice: () => undefined })
        await sql.unsafe('set search_path to reeve')
        await sql.unsafe(statement)
        await sql.end()
      },
    }
  },
}

test.each(Object.entries(stores))(
  'on %s, a cut tail, a removed entry and a flipped byte are found with the anchors of the home',
  async (_, open) => {
    const temp = new TempReeve()
    const { store, run } = await open(temp)
    const daemon = await temp.up({ flags: { store } })
    await appendEntries(daemon, 6)
    await expect.poll(() => anchorsOf(temp.home).at(-1)?.position).toBe(6)
    expect(statSync(temp.home.auditAnchors).mode & 0o777).toBe(0o600)
    expect(temp.logged).toContainEqual(
      expect.objectContaining({ facts: expect.objectContaining({ position: 6 }) }),
    )
    const anchors = anchorsOf(temp.home).length
    const sound = await daemon.reeve.verifyAudit()
    expect(sound).toEqual({
      type: 'sound',
      position: 6,
      hash: anchorsOf(temp.home).at(-1)?.hash,
      start: 0,
      anchors,
    })
    const line = new CommandLine(temp)
    expect((await line.run(['audit', 'verify'])).stdout).toContain('The audit is sound: 6 entries')
    const broken = async (statement: string) => {
      await run(statement)
      const found = await daemon.reeve.verifyAudit()
      const said = await line.run(['audit', 'verify'])
      expect(said).toMatchObject({ code: 1, stdout: '' })
      if (found.type === 'broken')
        expect(said.stderr).toContain(`broken from entry ${found.from} on (${found.reason})`)
      return found
    }
    expect(
      await broken(`delete from audit where position > 5;
        update meta set audit_position = 5, audit_hash = (select hash from audit where position = 5)`),
    ).toMatchObject({ type: 'broken', from: 6, reason: 'cut' })
    expect(await broken('delete from audit where position = 4')).toMatchObject({
      type: 'broken',
      from: 4,
      reason: 'missing',
    })
    expect(
      await broken(`update audit set body = replace(body, '"revealed"', '"revealet"') where position = 2`),
    ).toMatchObject({ type: 'broken', from: 2, reason: 'changed' })
  },
)

test('anchors hold after a restart, and a chain that was rewritten meanwhile is found', async () => {
  const temp = new TempReeve()
  const first = await temp.up()
  await appendEntries(first, 2)
  await first.close()
  expect(anchorsOf(temp.home).at(-1)?.position).toBe(2)
  const second = await temp.up()
  await appendEntries(second, 1)
  await second.close()
  expect(anchorsOf(temp.home).at(-1)?.position).toBe(3)
  const { run } = await stores.SQLite(temp)
  // Without the entries, the next ones make another chain of the same length.
  await run(`delete from audit; update meta set audit_position = 0, audit_hash = ''`)
  const third = await temp.up()
  await appendEntries(third, 5)
  expect(await third.reeve.verifyAudit()).toMatchObject({ type: 'broken', from: 1, reason: 'rewritten' })
})

test.each(Object.entries(stores))(
  'on %s, a daemon keeps as many entries as its settings say, also when it is killed, and the rest verifies',
  async (_, open) => {
    const temp = new TempReeve()
    const { store, run, rowOf } = await open(temp)
    const start = (settings: Readonly<Record<string, string>> = {}) =>
      temp.start(undefined, { REEVE_STORE: store, ...settings })
    const first = await start()
    const reeve = await connect({ home: temp.home.folder })
    onTestFinished(() => reeve.close())
    await appendEntries({ reeve }, 8)
    await expect.poll(() => anchorsOf(temp.home).at(-1)?.position).toBe(8)
    await first.kill()
    const second = await start({ REEVE_KEEP_AUDIT: '3' })
    const positions = async () =>
      (await reeve.audit({ oldestFirst: true })).entries.map(({ position }) => position)
    // The removal is the last entry.
    await expect.poll(positions).toEqual([7, 8, 9])
    const [removal] = (await reeve.audit()).entries
    expect(removal).toMatchObject({ action: 'prune', inputs: { removed: 6, through: 6 } })
    expect(removal?.type === 'entry' && removal.actor).toMatch(/^kernel:/)
    expect(await reeve.verifyAudit()).toMatchObject({ type: 'sound', position: 9, start: 6 })
    await expect.poll(() => startsOf(temp.home).at(-1)?.position).toBe(6)
    expect(statSync(temp.home.auditKey).mode & 0o777).toBe(0o600)
    await second.kill()
    await start({ REEVE_KEEP_AUDIT_MS: '1' })
    await expect.poll(positions).toEqual([10])
    expect(await reeve.verifyAudit()).toMatchObject({ type: 'sound', position: 10, start: 9 })
    await appendEntries({ reeve }, 2)
    expect(await positions()).toEqual([10, 11, 12])
    expect(await reeve.pruneAudit({ keep: 1 })).toMatchObject({ removed: 2, start: { position: 11 } })
    expect((await reeve.audit()).entries).toMatchObject([
      { position: 13, action: 'prune', decision: 'allowed', inputs: { removed: 2, through: 11 } },
      { position: 12 },
    ])
    expect(await reeve.verifyAudit()).toMatchObject({ type: 'sound', position: 13, start: 11 })
    // Who can write the store knows its secret, and can sign with that: it is not the key of the home.
    const { secret, hash } = await rowOf(
      `select secret, (select hash from audit where position = 12) as hash from meta`,
    )
    const signature = HASHES.sign(String(secret), auditStartText({ position: 12, hash: String(hash) }))
    await run(
      `delete from audit where position <= 12;
       update meta set audit_start = '${JSON.stringify({ position: 12, hash, signature })}'`,
    )
    expect(await reeve.verifyAudit()).toMatchObject({ type: 'broken', reason: 'unsigned' })
  },
)

test('a home that sees a shortened audit for the first time accepts its start, and no later one', async () => {
  const first = new TempReeve()
  const daemon = await first.up()
  await appendEntries(daemon, 4)
  await daemon.reeve.pruneAudit({ keep: 2 })
  const flags = { store: first.home.store }
  await daemon.close()
  const second = new TempReeve()
  const other = await second.up({ flags })
  expect(startsOf(second.home)).toMatchObject([{ position: 2 }])
  expect(await other.reeve.verifyAudit()).toMatchObject({ type: 'sound', start: 2 })
  await other.close()
  const again = await first.up()
  await again.reeve.pruneAudit({ keep: 1 })
  expect(await again.reeve.verifyAudit()).toMatchObject({ type: 'sound', start: 4 })
  await again.close()
  const unsure = await second.up({ flags })
  expect(await unsure.reeve.verifyAudit()).toMatchObject({ type: 'broken', reason: 'unsigned' })
  await unsure.close()
  // With the same key, homes that share a store verify each other's starts.
  copyFileSync(first.home.auditKey, second.home.auditKey)
  const sharing = await second.up({ flags })
  expect(await sharing.reeve.verifyAudit()).toMatchObject({ type: 'sound', start: 4 })
})

test('anchors of another store of the same home are not compared', async () => {
  const temp = new TempReeve()
  const first = await temp.up()
  await appendEntries(first, 3)
  await first.close()
  const other = await temp.up({ flags: { store: `${temp.home.folder}/other.db` } })
  expect(await other.reeve.verifyAudit()).toEqual({
    type: 'sound',
    position: 0,
    hash: '',
    start: 0,
    anchors: 0,
  })
})

test('only an admin reads and verifies the audit', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  await appendEntries(daemon, 1)
  const tokens = new TokenFile(temp.home)
  const others = [
    tokens.create({ role: 'read' }),
    tokens.create({ role: 'operate' }),
    tokens.create({ role: 'agent', session: 's1' }),
  ]
  for (const path of ['audit', 'audit/verify']) {
    for (const { token } of others)
      expect(await ask(daemon, `GET /v1/${path}`, { token })).toMatchObject({ status: 403 })
    expect(await ask(daemon, `GET /v1/${path}`, { token: daemon.token })).toMatchObject({ status: 200 })
  }
})

test('a traceparent header and a trace of connect() are in the entry', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const reeve = await connect({ home: temp.home.folder })
  onTestFinished(() => reeve.close())
  const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'x' } })
  const trace = (of: string) => `00-${of.repeat(32)}-${of.repeat(16)}-01`
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  await reeve.grant({ session: 's1', pids: [record.pid] }, { trace: trace('a') })
  await ask(daemon, 'POST /v1/sessions/s2/grants', {
    headers: { traceparent: trace('b') },
    body: { pids: [record.pid] },
  })
  const { entries } = await reeve.audit({ oldestFirst: true, target: `process:${record.pid}` })
  expect(entries.map((entry) => entry.type === 'entry' && entry.trace)).toEqual([trace('a'), trace('b')])
})
