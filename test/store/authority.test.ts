import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import type { AuditEntry } from '../../src/core/audit/entry.ts'
import { type ChainBreak, verifyEnd, verifyPage } from '../../src/core/audit/verify.ts'
import type { RuleSet } from '../../src/core/capability/rule-set.ts'
import { know, type Plan, type Store } from '../../src/store/contract.ts'
import { Link } from '../../src/store/postgres/link.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { RuleSetCache } from '../../src/store/sqlite/rule-set-cache.ts'
import { authorityStatements } from '../../src/store/sqlite/statements/authority.ts'
import { tempStore } from '../temp-folder.ts'
import { append, newPid, register } from './plans.ts'

function rulesOf(subject: string, ...ids: readonly string[]): RuleSet {
  const rules = ids.map((id) => ({ id, effect: 'ask', rights: ['execute'], resource: 'shell:git' }) as const)
  return { subject, rules, closed: false, source: null, trusted: true }
}

function putRules(ruleSet: RuleSet): Plan<void> {
  return function* () {
    const was = yield* know({ ask: 'ruleSet', subject: ruleSet.subject })
    return { answer: undefined, changes: [{ type: 'rule_set', was, ruleSet }] }
  }
}

/** Appends an event, after it has read the rules of these subjects. Answers with the number of rules. */
function appendUnder(pid: string, subjects: readonly string[], onRun = () => {}): Plan<number> {
  return function* () {
    onRun()
    const found = yield subjects.map((subject) => ({ ask: 'ruleSet', subject }) as const)
    const { changes } = yield* append(pid, 'x')()
    const count = found.flatMap((ruleSet) => (ruleSet as RuleSet | null)?.rules ?? []).length
    return { answer: count, changes }
  }
}

const url = inject('postgresUrl')

async function openSchema() {
  const schema = `authority ${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  onTestFinished(async () => {
    await sql.unsafe(`drop schema if exists "${schema}" cascade`)
    await sql.end()
  })
  const open = async (): Promise<Store> => {
    const store = await openPostgres(url, { schema })
    onTestFinished(() => store.close())
    return store
  }
  return { at: `"${schema}".`, sql, open }
}

/** The statements of plans that `act` sends: reads of rules, and commits. */
async function statementsOf(act: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(Link.prototype, 'query')
  try {
    await act()
    return query.mock.calls.flatMap(
      ([text]) => /commit_one|commit_changes|rule_set|stale_keys/.exec(text)?.[0] ?? [],
    )
  } finally {
    query.mockRestore()
  }
}

test('on PostgreSQL a plan that asks for known rule sets costs one statement', async () => {
  const { open } = await openSchema()
  const store = await open()
  const pid = newPid()
  await store.write(register(pid))
  const acting = (...subjects: readonly string[]) =>
    statementsOf(() => store.write(appendUnder(pid, subjects)))
  expect(await statementsOf(() => store.write(append(pid, 'x')))).toEqual(['commit_one'])
  // While no rule set was ever stored, no subject has to be read.
  expect(await acting('session:s1', 'session:s2', 'home')).toEqual(['commit_one'])
  expect(await statementsOf(() => store.write(putRules(rulesOf('home', 'r1'))))).toEqual(['commit_changes'])
  expect(await acting('home')).toEqual(['commit_one'])
  expect(await acting('home', 'session:s1', 'session:s2')).toEqual(['rule_set', 'commit_one'])
  expect(await acting('home', 'session:s1', 'session:s2')).toEqual(['commit_one'])
  const together = await statementsOf(() =>
    Promise.all(Array.from({ length: 50 }, () => store.write(appendUnder(pid, ['home', 'session:s1'])))),
  )
  expect(together).toEqual(['commit_one'])
})

test('on PostgreSQL a change of rules makes only those plans decide again that have read rules', async () => {
  const { open } = await openSchema()
  const [store, other] = [await open(), await open()]
  const pid = newPid()
  await store.write(register(pid))
  await store.write(putRules(rulesOf('home', 'r1')))
  await other.write(putRules(rulesOf('session:s9', 'r1', 'r2')))
  expect(await statementsOf(() => store.write(append(pid, 'x')))).toEqual(['commit_one'])
  let runs = 0
  const seen = Promise.withResolvers<number>()
  const statements = await statementsOf(async () =>
    seen.resolve(await store.write(appendUnder(pid, ['home', 'session:s9'], () => (runs += 1)))),
  )
  expect(await seen.promise).toBe(3)
  // `session:s9` was unknown, so the rule sets of the new epoch were read before the first commit.
  expect([statements, runs]).toEqual([['rule_set', 'rule_set', 'commit_one'], 3])
  await other.write(putRules(rulesOf('home')))
  expect(await statementsOf(() => store.write(appendUnder(pid, ['home', 'session:s9'])))).toEqual([
    'commit_one',
    'rule_set',
    'commit_one',
  ])
})

test('on SQLite a rule set is read once per epoch, and not at all before the first was stored', async () => {
  const file = tempStore()
  const other = await openSqlite(file)
  onTestFinished(() => other.close())
  const db = new DatabaseSync(file)
  onTestFinished(() => db.close())
  const statements = authorityStatements(db)
  const read: string[] = []
  const cache = new RuleSetCache({
    ...statements,
    ruleSet(subject) {
      read.push(subject)
      return statements.ruleSet(subject)
    },
  })
  const ask = (...subjects: readonly string[]) => {
    read.length = 0
    cache.begin()
    return subjects.map((subject) => cache.get(subject)?.rules.length ?? null)
  }
  expect([ask('home', 'session:s1'), [...read]]).toEqual([[null, null], []])
  await other.write(putRules(rulesOf('home', 'r1')))
  cache.forgetEpoch()
  expect([ask('home', 'session:s1'), [...read]]).toEqual([
    [1, null],
    ['home', 'session:s1'],
  ])
  // Another connection has committed, and has changed no rule set.
  await other.write(register(newPid()))
  cache.forgetEpoch()
  expect([ask('home', 'session:s1'), [...read]]).toEqual([[1, null], []])
  await other.write(putRules(rulesOf('home', 'r1', 'r2')))
  cache.forgetEpoch()
  expect([ask('home', 'home'), [...read]]).toEqual([[2, 2], ['home']])
})

test('a failed commit of a rule set leaves the former one in force', async () => {
  let fails = false
  const store = await openSqlite(tempStore(), {
    wrap: (transaction) =>
      new Proxy(transaction, {
        get(target, name) {
          const own: unknown = Reflect.get(target, name)
          if (name === 'commit' && fails) throw new Error('not committed')
          return typeof own === 'function' ? own.bind(target) : own
        },
      }),
  })
  onTestFinished(() => store.close())
  await store.write(putRules(rulesOf('home', 'r1')))
  fails = true
  await expect(store.write(putRules(rulesOf('home')))).rejects.toThrow('not committed')
  fails = false
  const pid = newPid()
  await store.write(register(pid))
  expect(await store.write(appendUnder(pid, ['home']))).toBe(1)
})

/** What verification says about the stored chain. */
async function verified(store: Store): Promise<ChainBreak | 'sound'> {
  const tail = await store.ask({ ask: 'auditTail' })
  const { items } = await store.ask({ ask: 'auditLinks', after: null, limit: 100 })
  const page = verifyPage({ position: 0, hash: '' }, items, [tail], (text) => hash('sha256', text))
  return page.type === 'broken' ? page : (verifyEnd(page.end, [tail]) ?? 'sound')
}

async function putEntries(store: Store, count: number): Promise<void> {
  for (let at = 1; at <= count; at++) await putTogether(store, [at])
}

const PUSH = { run: 'git push' }

/** Entries of one commit. */
async function putTogether(store: Store, times: readonly number[]): Promise<void> {
  await store.write(function* () {
    yield []
    const entries = times.map(
      (at): AuditEntry => ({
        at,
        actor: 'session:s1',
        action: 'spawn',
        target: `shell:git ${at}`,
        decision: 'denied',
        rule: null,
        reason: null,
        inputs: PUSH,
        trace: null,
      }),
    )
    return { answer: undefined, changes: entries.map((entry) => ({ type: 'audit', entry })) }
  })
}

const TAMPERING = [
  [
    'a changed byte',
    `update audit set body = replace(body, 'push', 'pusH') where position = 3`,
    3,
    'changed',
  ],
  ['a changed time', `update audit set at = 9 where position = 2`, 2, 'changed'],
  ['a changed hash', `update audit set hash = replace(hash, '0', '1') where position = 4`, 4, 'changed'],
  ['a text that is no entry', `update audit set body = 'x' where position = 1`, 1, 'changed'],
  ['a removed entry', `delete from audit where position = 2`, 2, 'missing'],
  ['a cut tail', `delete from audit where position > 3`, 4, 'cut'],
] as const

test.each(TAMPERING)('verification finds %s in a SQLite file', async (_what, statement, from, reason) => {
  const file = tempStore()
  const store = await openSqlite(file)
  onTestFinished(() => store.close())
  await putEntries(store, 5)
  expect(await verified(store)).toBe('sound')
  const db = new DatabaseSync(file)
  db.exec(statement)
  db.close()
  expect(await verified(store)).toEqual({ type: 'broken', from, reason })
})

test.each(TAMPERING)('verification finds %s in PostgreSQL', async (_what, statement, from, reason) => {
  const { at, sql, open } = await openSchema()
  const store = await open()
  await putEntries(store, 5)
  expect(await verified(store)).toBe('sound')
  await sql.unsafe(statement.replace(/\b(update|from) audit\b/, `$1 ${at}audit`))
  expect(await verified(store)).toEqual({ type: 'broken', from, reason })
})

/** Of the entries 1 to 4, 5, and 6 to 8, which three commits wrote: what is changed, and the first entry that is not proved any more. */
const TAMPERING_IN_LINKS = [
  [
    'a changed byte in the last entry of a commit',
    `update audit set body = replace(body, 'git 3', 'git 9') where position = 4`,
    1,
    'changed',
  ],
  [
    'an entry that was removed from those of its commit',
    `update audit set body = replace(body, ',{"at":7,"target":"shell:git 7"}', '') where position = 8`,
    6,
    'missing',
  ],
  ['a removed commit', `delete from audit where position = 5`, 5, 'missing'],
  ['the last commit cut off', `delete from audit where position = 8`, 6, 'cut'],
] as const

async function putCommits(store: Store): Promise<void> {
  await putTogether(store, [1, 2, 3, 4])
  await putTogether(store, [5])
  await putTogether(store, [6, 7, 8])
}

test.each(TAMPERING_IN_LINKS)(
  'verification finds %s in a SQLite file',
  async (_what, statement, from, reason) => {
    const file = tempStore()
    const store = await openSqlite(file)
    onTestFinished(() => store.close())
    await putCommits(store)
    expect(await verified(store)).toBe('sound')
    const db = new DatabaseSync(file)
    expect(db.prepare(statement).run().changes).toBe(1)
    db.close()
    expect(await verified(store)).toEqual({ type: 'broken', from, reason })
  },
)

test.each(TAMPERING_IN_LINKS)(
  'verification finds %s in PostgreSQL',
  async (_what, statement, from, reason) => {
    const { at, sql, open } = await openSchema()
    const store = await open()
    await putCommits(store)
    expect(await verified(store)).toBe('sound')
    const { count } = await sql.unsafe(statement.replace(/\b(update|from) audit\b/, `$1 ${at}audit`))
    expect(count).toBe(1)
    expect(await verified(store)).toEqual({ type: 'broken', from, reason })
  },
)
