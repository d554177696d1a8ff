import type { Store } from './store/contract.ts'
import { openSqlite as open } from './store/sqlite/open.ts'

/**
 * Opens (or makes) a store in one SQLite file, which any number of programs on this machine may share. Give it to
 * `embed`, and close it after the kernel.
 *
 * ```ts
 * const store = await openSqlite('reeve.db')
 * const reeve = await embed({ store })
 * ```
 */
export function openSqlite(file: string): Promise<Store> {
  return open(file)
}
