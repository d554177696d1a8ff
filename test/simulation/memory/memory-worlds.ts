import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { MemoryTables, openMemory } from 'reeve/testing'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { quickFolder } from '../../quick-folder.ts'
import type { MemoryWorld } from './run-memory.ts'

export function inMemory(): MemoryWorld {
  const shared = new MemoryTables()
  return { open: async () => openMemory({ shared }), remove: async () => undefined }
}

export function inSqlite(): MemoryWorld {
  const folder = mkdtempSync(join(quickFolder, 'reeve-objects-'))
  return {
    open: () => openSqlite(join(folder, 'reeve.db')),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

export function inPostgres(url: string): MemoryWorld {
  const schema = `objects ${crypto.randomUUID()}`
  return {
    open: () => openPostgres(url, { schema, maxConnections: 3 }),
    async remove() {
      const sql = postgres(url, { max: 1, onnotice: () => undefined })
      await sql.unsafe(`drop schema if exists "${schema}" cascade`)
      await sql.end()
    },
  }
}
