import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { storeConformance } from 'reeve/testing'
import { afterAll, describe, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { quickFolder } from '../../quick-folder.ts'

const folder = mkdtempSync(join(quickFolder, 'reeve-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('SQLite', () => {
  storeConformance({
    test,
    async fresh() {
      const own = mkdtempSync(join(folder, 'store-'))
      return {
        open: () => openSqlite(join(own, 'reeve.db')),
        remove: async () => rmSync(own, { recursive: true }),
      }
    },
  })
})
