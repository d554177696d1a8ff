import type { Sql } from 'postgres'
import { inject } from 'vitest'
import { MIGRATED_DATABASE } from '../../postgres-server.ts'

export interface NewDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates a database with Reeve's tables, all empty: a copy, which takes less time than the migrations. */
export async function newDatabase(sql: Sql): Promise<NewDatabase> {
  const name = `reeve_${crypto.randomUUID().replaceAll('-', '')}`
  await sql.unsafe(`create database ${name} template ${MIGRATED_DATABASE}`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await sql.unsafe(`drop database ${name} with (force)`)
    },
  }
}
