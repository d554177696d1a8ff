import postgres from 'postgres'
import { storeConformance } from 'reeve/testing'
import { afterAll, describe, inject, test } from 'vitest'
import { openPostgres } from '../../../src/store/postgres/open.ts'

const url = inject('postgresUrl')
const sql = postgres(url, { max: 1, onnotice: () => undefined })
afterAll(() => sql.end())

describe('PostgreSQL', () => {
  storeConformance({
    // Several at a time: most of a test is waiting for the server.
    test: (name, body) => test.concurrent(name, { timeout: 180_000 }, body),
    async fresh() {
      const schema = `conformance ${crypto.randomUUID()}`
      return {
        open: () => openPostgres(url, { schema, maxConnections: 3 }),
        async remove() {
          await sql.unsafe(`drop schema if exists "${schema}" cascade`)
        },
      }
    },
  })
})
