import './node-version.ts'
import type { Store } from './store/contract.ts'
import { type PostgresOptions as AllOptions, openPostgres as open } from './store/postgres/open.ts'

export type PostgresOptions = Pick<AllOptions, 'schema' | 'maxConnections' | 'reachMs'>

/**
 * Opens a store in a PostgreSQL database, which any number of programs on any host may share; makes its schema if it
 * is not there. Give it to `embed`, and close it after the kernel.
 *
 * ```ts
 * const store = await openPostgres('postgres://reeve:secret@localhost/reeve')
 * const reeve = await embed({ store })
 * ```
 */
export function openPostgres(url: string, options: PostgresOptions = {}): Promise<Store> {
  return open(url, options)
}
