import type { Store } from '../store/contract.ts'
import { openSqlite } from '../store/sqlite/open.ts'

/** Opens the store at an address: a `postgres://` URL, or a file for SQLite. */
export async function openStore(address: string): Promise<Store> {
  if (!/^postgres(ql)?:/.test(address)) return openSqlite(address)
  const { openPostgres } = await import('../store/postgres/open.ts')
  return openPostgres(address)
}
