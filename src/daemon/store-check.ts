import { existsSync } from 'node:fs'
import type { Check } from '../cli/daemon-control.ts'
import type { HomePaths } from '../home/paths.ts'

/** Whether the store's file is there, of a known version and readable. Reads it without the daemon. */
export async function storeFound(file: string, home: HomePaths): Promise<Check> {
  const name = 'store'
  if (/^postgres(ql)?:/.test(file))
    return { name, state: 'good', found: 'PostgreSQL; the daemon reports if it cannot use it' }
  if (!existsSync(file)) return missingStore(file, home)
  const fix = 'Stop the daemon (reeve down --keep) and put a copy of the file back.'
  try {
    const [{ DatabaseSync }, { SCHEMA_VERSION }] = await Promise.all([
      import('node:sqlite'),
      import('../store/sqlite/migrate.ts'),
    ])
    const database = new DatabaseSync(file, { readOnly: true, timeout: 2_000 })
    try {
      const version = Number(database.prepare('pragma user_version').get()?.['user_version'])
      if (version > SCHEMA_VERSION) return newerStore(file, version, SCHEMA_VERSION)
      if (version === 0) return emptyStore(file, home)
      const { quick_check: said } = database.prepare('pragma quick_check(1)').get() as { quick_check: string }
      if (said !== 'ok') return { name, state: 'bad', found: said, fix }
      const unreadable = database
        .prepare(UNREADABLE)
        .all()
        .map(({ pid }) => String(pid))
      if (unreadable.length === 0) return { name, state: 'good', found: `${file} is sound` }
      const found = `records that cannot be read: ${unreadable.join(', ')}`
      return { name, state: 'bad', found, fix: `Everything else goes on without them. ${fix}` }
    } finally {
      database.close()
    }
  } catch (error) {
    return { name, state: 'bad', found: (error as Error).message, fix }
  }
}

/** The pids of the first few records that cannot be read. A compressed payload is not looked at. */
const UNREADABLE = `select distinct pid from process join event on event.process = process.id and event.seq in (1, process.revision)
  where not json_valid(moving) or packed is null and not json_valid(payload) limit 5`

function newerStore(file: string, version: number, known: number): Check {
  return {
    name: 'store',
    state: 'bad',
    found: `${file} has schema version ${version}, and this Reeve knows versions up to ${known}`,
    fix: 'Use a Reeve at least as new as the one that wrote it, or another store (REEVE_STORE).',
  }
}

/** A home in which commands were run must have a store. */
function missingStore(file: string, home: HomePaths): Check {
  const name = 'store'
  if (!existsSync(home.commands)) return { name, state: 'good', found: 'there is none yet' }
  return {
    name,
    state: 'bad',
    found: `${file} is not there, but commands were run in this home`,
    fix: `Put a copy of it back, or check REEVE_STORE; to start over without their records, remove ${home.commands}.`,
  }
}

function emptyStore(file: string, home: HomePaths): Check {
  const found = `${file} has no tables of Reeve in it`
  // A store that was just created has no tables for a moment.
  if (!existsSync(home.commands)) return { name: 'store', state: 'poor', found, fix: 'Run reeve up.' }
  const fix = `Put a copy of the store back, or check REEVE_STORE.`
  return { name: 'store', state: 'bad', found, fix }
}
