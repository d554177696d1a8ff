import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { storeConformance } from 'reeve/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { quickFolder } from '../../quick-folder.ts'

const folder = mkdtempSync(join(quickFolder, 'reeve-sqlite-'))
/** A store without processes. Copied for each test, which takes less time than to migrate. */
const migrated = join(folder, 'migrated.db')
beforeAll(async () => (await openSqlite(migrated)).close())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('SQLite', () => {
  storeConformance({
    test,
    async fresh() {
      const own = mkdtempSync(join(folder, 'store-'))
      copyFileSync(migrated, join(own, 'reeve.db'))
      return {
        open: () => openSqlite(join(own, 'reeve.db')),
        remove: async () => rmSync(own, { recursive: true }),
      }
    },
  })
})
