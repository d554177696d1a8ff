import { DatabaseSync } from 'node:sqlite'
import { embed } from 'reeve'
import { expect, test } from 'vitest'
import type { Transaction } from '../../src/store/group-commit.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

test('when a caller gets its answer, another program reads the write from the file', async () => {
  const file = tempStore()
  const reeve = await embed({ store: file })
  const stranger = new DatabaseSync(file, { readOnly: true })
  const there = stranger.prepare('select count(*) as found from process where pid = ?')
  const acknowledged = Array.from({ length: 100 }, async () => {
    const { record } = await reeve.spawn(OUTSIDE)
    expect(there.get(record.pid)).toMatchObject({ found: 1 })
  })
  await Promise.all(acknowledged)
  stranger.close()
  await reeve.close()
})

test('no caller gets an answer before the commit, and a failed commit is answered as a failure', async () => {
  const file = tempStore()
  const told: string[] = []
  let failNext = false
  const watched = (inner: Transaction): Transaction => ({
    begin: () => inner.begin(),
    answer: (question) => inner.answer(question),
    apply: (change) => inner.apply(change),
    commit: () => {
      if (failNext) {
        failNext = false
        throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
      }
      const commit = inner.commit()
      told.push('committed')
      return commit
    },
    rollback: () => inner.rollback(),
    isBusy: (error) => inner.isBusy(error),
    isPlanFault: (error) => inner.isPlanFault(error),
    toStoreError: (error, committing) => inner.toStoreError(error, committing),
  })
  const store = await openSqlite(file, { wrap: watched })
  const reeve = await embed({ store })
  told.length = 0
  const answers = ['a', 'b', 'c'].map((name) => reeve.spawn({ ...OUTSIDE, name }).then(() => told.push(name)))
  await Promise.all(answers)
  expect(told).toEqual(['committed', 'a', 'b', 'c'])
  failNext = true
  await expect(reeve.spawn({ ...OUTSIDE, name: 'd' })).rejects.toMatchObject({ code: 'outcome_unknown' })
  await expect(reeve.show({ pid: 'd' })).rejects.toMatchObject({ code: 'unknown_pid' })
  await reeve.spawn({ ...OUTSIDE, name: 'd' })
  await reeve.close()
  await store.close()
})

test('everything that was acknowledged is there after the file is opened again', async () => {
  const file = tempStore()
  const first = await embed({ store: file })
  const spawned = await first.spawnMany({ processes: Array.from({ length: 50 }, () => OUTSIDE) })
  const pids = spawned.processes.map(({ record }) => record.pid)
  for (const pid of pids.slice(0, 10)) await first.end({ pid, status: 'completed', replayKey: 'e' })
  const before = await Promise.all(pids.map((pid) => first.show({ pid })))
  await first.close()
  const second = await embed({ store: file })
  expect(await Promise.all(pids.map((pid) => second.show({ pid })))).toEqual(before)
  await second.close()
})
