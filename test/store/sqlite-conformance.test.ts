import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeConformance } from 'reeve/testing'
import { describe, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'

describe('SQLite', () => {
  storeConformance({
    test: (name, body) => test(name, { timeout: 20_000 }, body),
    async fresh() {
      const folder = mkdtempSync(join(tmpdir(), 'reeve-sqlite-'))
      return {
        open: () => openSqlite(join(folder, 'reeve.db')),
        remove: async () => rmSync(folder, { recursive: true }),
      }
    },
  })
})
