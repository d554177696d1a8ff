import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FUNCTIONS, MIGRATIONS as POSTGRES_MIGRATIONS } from '../../src/store/postgres/migrate.ts'
import { MIGRATIONS as SQLITE_MIGRATIONS } from '../../src/store/sqlite/migrate.ts'

const STORES = [
  ['sqlite', SQLITE_MIGRATIONS],
  ['postgres', POSTGRES_MIGRATIONS],
] as const

function filesIn(folder: string): string[] {
  return readdirSync(new URL(`../../src/store/${folder}/`, import.meta.url)).sort()
}

test.for(STORES)(
  'every migration of %s has a file with its number, and every file is in the list',
  ([store, migrations]) => {
    expect(filesIn(`${store}/migrations`)).toEqual(migrations.map((name) => `${name}.sql`))
    for (const [index, name] of migrations.entries()) expect(Number(name.slice(0, 4)), name).toBe(index + 1)
  },
)

test('every file of a PostgreSQL function is in the list', () => {
  expect(filesIn('postgres/functions')).toEqual(FUNCTIONS.map((name) => `${name}.sql`).sort())
})
