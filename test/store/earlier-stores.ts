import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { inject, onTestFinished } from 'vitest'
import { MIGRATIONS, migrationSql } from '../../src/store/postgres/migrate.ts'
import { tempStore } from '../temp-folder.ts'

/** A file with the tables and rows of a fixture. */
export function sqliteFile(sql: string): string {
  const file = tempStore()
  const old = new DatabaseSync(file)
  old.exec(sql)
  old.close()
  return file
}

/** A schema with the migrations up to `version`, and these rows. */
export async function schemaOf(version: number, rows: string): Promise<string> {
  const schema = `previous ${crypto.randomUUID()}`
  const at = `"${schema}".`
  const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined })
  onTestFinished(async () => {
    await sql.unsafe(`drop schema if exists "${schema}" cascade`)
    await sql.end()
  })
  await sql.unsafe(`create schema "${schema}"`)
  await sql.unsafe(`create table ${at}migration (number integer primary key, at timestamptz not null)`)
  for (const [index, migration] of MIGRATIONS.slice(0, version).entries()) {
    await sql.unsafe(migrationSql(migration, at))
    await sql.unsafe(`insert into ${at}migration values (${index + 1}, now())`)
  }
  await sql.unsafe(rows.replaceAll('$SCHEMA.', at))
  return schema
}

/** A store that an earlier version wrote, and the pids of its processes by name. */
export function fixture<Pids>(name: string): { readonly sql: string; readonly pids: Pids } {
  const sql = readFileSync(new URL(`../fixtures/stores/${name}`, import.meta.url), 'utf8')
  const [, pids = ''] = /Pids: (.*)$/m.exec(sql) ?? []
  return { sql, pids: JSON.parse(pids) as Pids }
}
