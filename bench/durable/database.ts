import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Store } from '../../src/store/contract.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { startPostgres } from '../../test/postgres-server.ts'
import type { Raw } from './raw.ts'
import { rawPostgres } from './raw-postgres.ts'
import { rawSqlite } from './raw-sqlite.ts'

/** A kind of database, for measurements. */
export interface Database {
  readonly store: 'sqlite' | 'postgres'
  /** The address of a fresh store. */
  fresh(): Promise<string>
  open(address: string): Promise<Store>
  /** Runs the maintenance that the database does by itself after many writes. */
  settled?(): Promise<void>
  /** The same database without Reeve. */
  raw(address: string): Promise<Raw>
}

export function sqliteDatabase(folder: string): Database {
  return {
    store: 'sqlite',
    fresh: async () => join(mkdtempSync(join(folder, 'sqlite-')), 'reeve.db'),
    open: openSqlite,
    raw: rawSqlite,
  }
}

/** One server for the whole run, one database per store. Its durability is PostgreSQL's default. */
export async function startPostgresDatabase(): Promise<Database & { stop(): Promise<void> }> {
  const server = await startPostgres()
  const admin = postgres(server.url, { max: 1 })
  let count = 0
  let last = server.url
  return {
    store: 'postgres',
    async settled() {
      const database = postgres(last, { max: 1 })
      await database.unsafe('vacuum analyze')
      await database.end()
    },
    async fresh() {
      const name = `bench_${++count}`
      await admin.unsafe(`create database ${name}`)
      const url = new URL(server.url)
      url.pathname = name
      last = url.href
      return url.href
    },
    open: openPostgres,
    raw: rawPostgres,
    async stop() {
      await admin.end()
      await server.stop()
    },
  }
}
