import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import type { Database } from './database.ts'

export type Value = string | number | null
type Row = Readonly<Record<string, Value>>

/**
 * What one append writes, learned by comparing the tables before and after an append of the store. So the raw writer does
 * the same work after every change of the schema.
 */
export interface AppendShape {
  /** The event's row. */
  readonly event: Row
  /** Columns of the process's row that the append changed. */
  readonly changed: Row
  readonly position: number
  /** The values of the next append, and the key of the process: its id in SQLite, its pid in PostgreSQL. */
  next(
    index: number,
    position: number,
  ): { key: Value; eventValues: readonly Value[]; changedValues: readonly Value[] }
}

export async function learnAppend(
  database: Database,
  address: string,
  pids: readonly string[],
  append: (pid: string) => Promise<unknown>,
  /** Makes further events before the raw writer begins. */
  finish: () => Promise<unknown> = async () => undefined,
): Promise<AppendShape> {
  const [first = ''] = pids
  const tables = database.store === 'sqlite' ? sqliteTables(address) : postgresTables(address)
  try {
    const before = await tables.look(first)
    await append(first)
    const after = await tables.look(first)
    if (after.event === undefined) throw new Error('The store appended no event.')
    await finish()
    const position = await tables.position()
    return shapeOf(await tables.keys(pids), before.process, after.process, { ...after.event, position })
  } finally {
    await tables.close()
  }
}

interface Keys {
  /** The column of an event that names its process. */
  readonly column: 'process' | 'pid'
  readonly of: readonly { readonly key: Value; seq: number }[]
}

function shapeOf(keys: Keys, before: Row, after: Row, event: Row): AppendShape {
  const changed = Object.fromEntries(
    Object.entries(after).filter(([column, value]) => before[column] !== value),
  )
  return {
    event,
    changed,
    position: Number(event['position']),
    next(index, position) {
      const process = keys.of[index % keys.of.length]
      if (process === undefined) throw new Error('There is no process to append to.')
      const seq = ++process.seq
      const isKeyed = typeof event['replay_key'] === 'string'
      const own: Row = {
        position,
        seq,
        [keys.column]: process.key,
        // A key is there once per process.
        ...(isKeyed ? { replay_key: `raw:${seq}` } : {}),
      }
      return {
        key: process.key,
        eventValues: Object.entries(event).map(([column, value]) => own[column] ?? value),
        // Numbers that an append changes are counters: they rise with every append.
        changedValues: Object.values(changed).map((value) => (typeof value === 'number' ? seq : value)),
      }
    },
  }
}

function sqliteTables(file: string) {
  const db = new DatabaseSync(file)
  const process = db.prepare('select * from process where pid = ?')
  const event = db.prepare('select * from event where process = ? order by seq desc limit 1')
  const last = db.prepare('select max(position) as position from event')
  return {
    async look(pid: string) {
      const row = process.get(pid) as Row
      return { process: row, event: event.get(row['id'] ?? null) as Row | undefined }
    },
    position: async () => Number(last.get()?.['position']),
    async keys(pids: readonly string[]): Promise<Keys> {
      const rows = pids.map((pid) => process.get(pid) as Row)
      return {
        column: 'process',
        of: rows.map(({ id, revision }) => ({ key: id ?? null, seq: Number(revision) })),
      }
    },
    close: async () => db.close(),
  }
}

function postgresTables(url: string) {
  const bigint = { to: 20, from: [20], serialize: String, parse: Number }
  const sql = postgres(url, { max: 1, types: { bigint } })
  const process = async (pid: string) => (await sql`select * from reeve.process where pid = ${pid}`)[0] as Row
  return {
    async look(pid: string) {
      const [event] = await sql`select * from reeve.event where pid = ${pid} order by seq desc limit 1`
      return { process: await process(pid), event: event as Row | undefined }
    },
    position: async () =>
      Number((await sql`select max(position) as position from reeve.event`)[0]?.['position']),
    async keys(pids: readonly string[]): Promise<Keys> {
      const rows = await Promise.all(pids.map(process))
      return {
        column: 'pid',
        of: rows.map(({ pid, revision }) => ({ key: pid ?? null, seq: Number(revision) })),
      }
    },
    close: () => sql.end(),
  }
}
