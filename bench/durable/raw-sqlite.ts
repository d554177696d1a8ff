import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { AppendShape } from './append-shape.ts'
import { grouped, type Raw, type RawAppends } from './raw.ts'

/** As the store itself opens its file. */
const PRAGMAS =
  'pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536; pragma wal_autocheckpoint = 4000'

/** One row per unit; accepts and completions of one turn of the loop share one commit. */
export async function rawSqlite(file: string): Promise<Raw> {
  const db = new DatabaseSync(file)
  db.exec(PRAGMAS)
  db.exec('create table unit (id integer primary key, state integer not null, body text not null)')
  const insert = db.prepare('insert into unit values (?, 0, ?)')
  const finish = db.prepare('update unit set state = 1 where id = ?')
  const open = db.prepare('select count(*) as count from unit where state = 0')
  const commit = grouped<{ readonly id: number; readonly state: 0 | 1 }>((changes) => {
    db.exec('begin immediate')
    for (const { id, state } of changes) {
      if (state === 0) insert.run(id, BODY)
      else finish.run(id)
    }
    db.exec('commit')
  })
  let count = 0
  return {
    async accept(run) {
      const id = ++count
      await commit({ id, state: 0 })
      run()
      void commit({ id, state: 1 })
    },
    unfinished: async () => Number(open.get()?.['count']),
    async commitOne(then) {
      insert.run(++count, BODY)
      setImmediate(then)
    },
    close: async () => db.close(),
  }
}

/** Appends to the store's own tables and indexes: rows as the store writes them, with prepared texts. */
export async function rawSqliteAppends(file: string, shape: AppendShape): Promise<RawAppends> {
  const db = new DatabaseSync(file)
  db.exec(PRAGMAS)
  const eventColumns = Object.keys(shape.event)
  const changedColumns = Object.keys(shape.changed)
  const insert = db.prepare(
    `insert into event (${eventColumns.join(', ')}) values (${eventColumns.map(() => '?').join(', ')})`,
  )
  const update = db.prepare(
    `update process set ${changedColumns.map((column) => `${column} = ?`).join(', ')} where id = ?`,
  )
  const count = db.prepare('update meta set position = ? where id = 1')
  let { position } = shape
  const append = grouped<number>((indexes) => {
    db.exec('begin immediate')
    for (const index of indexes) {
      const { key, eventValues, changedValues } = shape.next(index, ++position)
      insert.run(...(eventValues as SQLInputValue[]))
      update.run(...(changedValues as SQLInputValue[]), key)
    }
    count.run(position)
    db.exec('commit')
  })
  return { append, close: async () => db.close() }
}

const BODY = JSON.stringify({ hello: 'world' })
