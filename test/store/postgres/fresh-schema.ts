import postgres from 'postgres'
import { inject, onTestFinished } from 'vitest'
import type { Store } from '../../../src/store/contract.ts'
import { openPostgres, type PostgresOptions } from '../../../src/store/postgres/open.ts'

export const url = inject('postgresUrl')

/** Opens stores of one fresh schema, which is dropped after the test. */
export function freshSchema() {
  const schema = `test ${crypto.randomUUID()}`
  onTestFinished(async () => void (await administer(`drop schema if exists "${schema}" cascade`)))
  return {
    schema,
    async open(options: PostgresOptions = {}): Promise<Store> {
      const store = await openPostgres(url, { schema, ...options })
      onTestFinished(() => store.close())
      return store
    },
  }
}

/** Runs one statement on a connection of its own. */
export async function administer(statement: string): Promise<postgres.RowList<postgres.Row[]>> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
