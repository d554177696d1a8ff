import postgres from 'postgres'
import { storeConformance } from 'reeve/testing'
import { describe, inject, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres/open.ts'

const url = inject('postgresUrl')

describe('PostgreSQL', () => {
  storeConformance({
    test: (name, body) => test(name, { timeout: 60_000 }, body),
    async fresh() {
      const schema = `conformance ${crypto.randomUUID()}`
      return {
        open: () => openPostgres(url, { schema }),
        async remove() {
          const sql = postgres(url, { max: 1, onnotice: () => undefined })
          await sql.unsafe(`drop schema if exists "${schema}" cascade`)
          await sql.end()
        },
      }
    },
  })
})
