import postgres from 'postgres'
import { storeConformance } from 'reeve/testing'
import { afterAll, describe, inject, test } from 'vitest'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { newDatabase } from './new-database.ts'

const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined })
afterAll(() => sql.end())

describe('PostgreSQL', () => {
  storeConformance({
    // Several at a time: most of a test is waiting for the server.
    test: (name, body) => test.concurrent(name, { timeout: 180_000 }, body),
    async fresh() {
      const { url, drop } = await newDatabase(sql)
      return { open: () => openPostgres(url, { maxConnections: 3 }), remove: drop }
    },
  })
})
