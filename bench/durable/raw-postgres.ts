import postgres from 'postgres'
import type { AppendShape, Value } from './append-shape.ts'
import { grouped, type Raw, type RawAppends } from './raw.ts'

const CONNECTIONS = 3

/** One row per unit; accepts and completions of one turn of the loop share one statement and one commit each. */
export async function rawPostgres(url: string): Promise<Raw> {
  const sql = postgres(url, { max: CONNECTIONS })
  await sql.unsafe('create table unit (id bigint primary key, state int not null, body text not null)')
  // Opens all connections now, because the pool is lazy.
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql.unsafe('select pg_sleep(0.05)')))
  const query = (text: string, values: (number | string | readonly number[])[]) =>
    sql.unsafe(text, values as postgres.ParameterOrJSON<never>[], { prepare: true })
  const insert = grouped<number>(async (ids) => {
    await query('insert into unit select id, 0, $2 from unnest($1::bigint[]) as id', [ids, BODY])
  })
  const finish = grouped<number>(async (ids) => {
    await query('update unit set state = 1 where id = any ($1::bigint[])', [ids])
  })
  let count = 0
  return {
    async accept(run) {
      const id = ++count
      await insert(id)
      run()
      void finish(id)
    },
    async unfinished() {
      const [found] = await sql.unsafe('select count(*) as count from unit where state = 0')
      return Number(found?.['count'])
    },
    async commitOne(then) {
      await query('insert into unit values ($1, 0, $2)', [++count, BODY])
      setImmediate(then)
    },
    close: () => sql.end(),
  }
}

/** Appends to the store's own tables and indexes: one statement per batch, with prepared texts. */
export async function rawPostgresAppends(url: string, shape: AppendShape): Promise<RawAppends> {
  const sql = postgres(url, { max: 1 })
  const typesOf = async (table: string) => {
    const columns = await sql<{ name: string; type: string }[]>`
      select column_name as name, data_type as type from information_schema.columns
      where table_schema = 'reeve' and table_name = ${table}`
    return new Map(columns.map(({ name, type }) => [name, type]))
  }
  const eventColumns = columnsOf(shape.event, await typesOf('event'))
  const changedColumns = columnsOf({ pid: '', ...shape.changed }, await typesOf('process'))
  const text = `with appended as (
      insert into reeve.event (${names(eventColumns)}) select * from unnest(${arrays(eventColumns, 2)})
    ), counted as (update reeve.meta set position = $1 where id = 1)
    update reeve.process p set ${changedColumns
      .slice(1)
      .map(({ name }) => `${name} = n.${name}`)
      .join(', ')}
    from unnest(${arrays(changedColumns, 2 + eventColumns.length)}) as n (${names(changedColumns)})
    where p.pid = n.pid`
  let { position } = shape
  const append = grouped<number>(async (indexes) => {
    const rows = indexes.map((index) => shape.next(index, ++position))
    const values = [
      position,
      ...eventColumns.map((column, at) =>
        packed(
          column,
          rows.map(({ eventValues }) => eventValues[at] ?? null),
        ),
      ),
      ...changedColumns.map((column, at) =>
        packed(
          column,
          rows.map(({ key, changedValues }) => (at === 0 ? key : (changedValues[at - 1] ?? null))),
        ),
      ),
    ]
    await sql.unsafe(text, values as postgres.ParameterOrJSON<never>[], { prepare: true })
  })
  return { append, close: () => sql.end() }
}

interface Column {
  readonly name: string
  readonly type: string
}

function columnsOf(row: object, types: ReadonlyMap<string, string>): Column[] {
  return Object.keys(row).map((name) => ({ name, type: types.get(name) ?? 'text' }))
}

function names(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(', ')
}

/** Joined texts are much faster than an array in which every quote is escaped; no text is empty. */
function arrays(columns: readonly Column[], first: number): string {
  return columns
    .map(({ type }, at) =>
      type === 'text' ? `string_to_array($${first + at}, E'\\x1e', '')` : `$${first + at}::${type}[]`,
    )
    .join(', ')
}

function packed({ type }: Column, values: readonly Value[]): string | readonly Value[] {
  return type === 'text' ? values.map((value) => value ?? '').join('\x1e') : values
}

const BODY = JSON.stringify({ hello: 'world' })
