import { expect, onTestFinished, test } from 'vitest'
import type { Commit, Store } from '../../../src/store/contract.ts'
import type { Transaction } from '../../../src/store/group-commit.ts'
import { openSqlite, type SqliteOptions } from '../../../src/store/sqlite/open.ts'
import { tempStore } from '../../temp-folder.ts'
import { append, newPid, register } from '../plans.ts'

async function opened(file: string, options: SqliteOptions = {}): Promise<Store> {
  const store = await openSqlite(file, options)
  onTestFinished(() => store.close())
  return store
}

/** A store whose turns and file checks are triggered by the test. */
async function handled(file: string, wrap: SqliteOptions['wrap'] = (transaction) => transaction) {
  const turns: (() => void)[] = []
  let look = () => {}
  const store = await opened(file, {
    wrap,
    soon: (task) => void turns.push(task),
    watch: (_file, _clock, given) => {
      look = given
      return () => {}
    },
  })
  const told: Commit[] = []
  store.onCommit((commit) => void told.push(commit))
  return { store, told, look: () => look(), turn: () => turns.shift()?.() }
}

/** The transaction with some methods replaced. */
function but(transaction: Transaction, instead: Partial<Transaction>): Transaction {
  return new Proxy(transaction, {
    get: (target, name) => {
      const own = Reflect.get(name in instead ? instead : target, name)
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
}

const byOthers = (told: readonly Commit[]) => told.filter(({ events }) => events === null)

test('the transaction that was about to begin reports a commit of another store', async () => {
  const file = tempStore()
  const { store, told, look, turn } = await handled(file)
  const other = await opened(file)
  const own = store.write(register(newPid()))
  await other.write(register(newPid()))
  look()
  expect(told).toEqual([])
  turn()
  await own
  expect(byOthers(told)).toHaveLength(1)
  expect(told.filter(({ events }) => events !== null)).toHaveLength(1)
})

test('a commit of another store is reported also if that transaction could not begin', async () => {
  const file = tempStore()
  let fails = true
  const { store, told, look, turn } = await handled(file, (transaction) =>
    but(transaction, {
      begin() {
        if (fails) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
        transaction.begin()
      },
    }),
  )
  const own = store.write(register(newPid()))
  const other = await opened(file)
  await other.write(register(newPid()))
  look()
  turn()
  await expect(own).rejects.toMatchObject({ code: expect.any(String) })
  expect(byOthers(told)).toHaveLength(1)
  fails = false
})

test('positions have no gap and no repeat after rollbacks, failed commits and commits of others', async () => {
  const file = tempStore()
  let fails: 'before' | 'after' | null = null
  const store = await opened(file, {
    wrap: (transaction) =>
      but(transaction, {
        commit() {
          const how = fails
          fails = null
          if (how === 'before') throw new Error('not committed')
          const commit = transaction.commit()
          if (how === 'after') throw new Error('committed all the same')
          return commit
        },
      }),
  })
  const other = await opened(file)
  const pid = newPid()
  await store.write(register(pid))
  const appendAll = async (one: Store, count: number) => {
    for (let n = 0; n < count; n++) await one.write(append(pid, n))
  }
  for (const how of ['before', 'after'] as const) {
    await appendAll(store, 2)
    fails = how
    await expect(store.write(append(pid, how))).rejects.toThrow()
    await appendAll(store, 1)
    await appendAll(other, 2)
    await appendAll(store, 2)
  }
  const { events, position } = await other.ask({ ask: 'changes', after: 0, limit: 1_000 })
  expect(events.map((event) => event.position)).toEqual(events.map((_, index) => index + 1))
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(position).toBe(events.length)
  // One of the two failed commits had happened.
  expect(events.filter(({ payload }) => payload === 'after')).toHaveLength(1)
  expect(events).toHaveLength(1 + 2 * 7 + 1)
})
