import { expect, inject, onTestFinished, test } from 'vitest'
import { type Embedded, embed } from '../../src/index.ts'
import type { Store } from '../../src/store/contract.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { fixture, schemaOf, sqliteFile } from './earlier-stores.ts'

interface Pids {
  /** Wait for an answer. */
  readonly pending: string
  readonly denied: string
  /** Wait for an answer, with a use of the session's counted rule each. */
  readonly counted: string
  readonly second: string
  /** Were approved, and have run. */
  readonly approved: string
  readonly session: string
  readonly always: string
}

test('rules, approvals and the audit of a SQLite file count after sessions got parents and requests reviewers', async () => {
  const { sql, pids } = fixture<Pids>('sqlite-12.sql')
  await expectToCount(await openSqlite(sqliteFile(sql)), pids)
})

test('rules, approvals and the audit of a PostgreSQL schema count after sessions got parents and requests reviewers', async () => {
  const { sql, pids } = fixture<Pids>('postgres-16.sql')
  const schema = await schemaOf(16, sql)
  await expectToCount(await openPostgres(inject('postgresUrl'), { schema }), pids)
})

async function expectToCount(store: Store, pids: Pids): Promise<void> {
  onTestFinished(() => store.close())
  const ran: unknown[] = []
  const deploy = ({ input }: { readonly input: unknown }) => void ran.push(input)
  const reeve = await embed({ store, tools: { deploy } })
  onTestFinished(() => reeve.close())
  const start = async (session: string, tool: string, input: string) =>
    (await reeve.as(`session:${session}`).spawn({ kind: 'tool', spec: { tool, input } })).record

  await expectRules(reeve)
  expect(await reeve.verifyAudit()).toMatchObject({ type: 'sound' })
  const { approvals } = await reeve.approvals({ state: 'any', limit: 100 })
  const idOf = (pid: string) => approvals.find((approval) => approval.pid === pid)?.id ?? ''
  const stateOf = (pid: string) => approvals.find((approval) => approval.pid === pid)?.state
  const { pending, denied, counted, second, approved, session, always } = pids
  for (const pid of [pending, denied, counted, second]) expect(stateOf(pid)).toBe('pending')
  for (const pid of [approved, session, always]) expect(stateOf(pid)).toBe('answered')
  expect(ran).toEqual([])

  expect(await reeve.approve({ id: idOf(pending) })).toMatchObject({ type: 'settled' })
  expect(await endOf(reeve, pending)).toBe('completed')
  expect(await reeve.deny({ id: idOf(denied), advice: 'not today' })).toMatchObject({ type: 'settled' })
  expect(await endOf(reeve, denied)).toBe('cancelled')
  expect(await reeve.approve({ id: idOf(approved) })).toMatchObject({ type: 'settled_before' })
  expect(ran).toEqual(['pending'])

  // Of three uses, one is given back and one is spent: two are left.
  await reeve.deny({ id: idOf(counted) })
  await reeve.approve({ id: idOf(second) })
  expect(await endOf(reeve, second)).toBe('completed')
  for (const input of ['third', 'fourth'])
    expect(await start('s3', 'deploy', input)).toMatchObject({ status: 'waiting' })
  await expect(start('s3', 'deploy', 'fifth')).rejects.toMatchObject({ code: 'denied' })

  await expect(start('s1', 'forbidden', 'x')).rejects.toMatchObject({ code: 'denied' })
  await reeve.openSession({ session: 'below', parentSession: 's3' })
  await expect(start('below', 'deploy', 'x')).rejects.toMatchObject({ code: 'denied' })
  expect(await start('s1', 'deploy', 'another')).toMatchObject({ status: 'waiting' })
  expect(ran).toEqual(['pending', 'counted twice'])
  expect(await reeve.verifyAudit()).toMatchObject({ type: 'sound' })
}

/** The rules of people, and those of their answers. */
async function expectRules(reeve: Embedded): Promise<void> {
  const { rules } = await reeve.policies()
  const named = rules
    .map(({ subject, rule }) => `${subject} ${String(rule['effect'])} ${String(rule['resource'])}`)
    .sort()
  expect(named).toEqual([
    'home allow tool:deploy',
    'home ask tool:deploy',
    'home deny tool:forbidden',
    'session:s2 allow tool:deploy',
    'session:s3 allow tool:*',
  ])
}

async function endOf(reeve: Embedded, pid: string): Promise<string> {
  for (;;) {
    const waited = await reeve.wait({ pid, timeoutMs: 60_000 })
    if (waited.type === 'ended') return waited.record.status
  }
}
