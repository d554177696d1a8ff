import './node-version.ts'
import type { Store } from './store/contract.ts'

/**
 * Opens (or makes) a store in one SQLite file, which any number of programs on this machine may share. Give it to
 * `embed`, and close it after the kernel.
 *
 * ```ts
 * const store = await openSqlite('reeve.db')
 * const reeve = await embed({ store })
 * ```
 */
export async function openSqlite(file: string): Promise<Store> {
  const { openSqlite } = await import('./store/sqlite/open.ts')
  return openSqlite(file)
}
