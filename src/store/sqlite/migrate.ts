import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../core/errors.ts'
import { sql as process } from './migrations/0001-process.ts'
import { sql as inbox } from './migrations/0002-inbox.ts'
import { sql as allowance } from './migrations/0003-allowance.ts'
import { sql as visibility } from './migrations/0004-visibility.ts'
import { sql as environmentUse } from './migrations/0005-environment-use.ts'
import { sql as prune } from './migrations/0006-prune.ts'
import { sql as placement } from './migrations/0007-placement.ts'
import { sql as lists } from './migrations/0008-lists.ts'
import { sql as workflow } from './migrations/0009-workflow.ts'

/** In order, forward only; the number of a migration is its place here, from 1. */
const MIGRATIONS: readonly string[] = [
  process,
  inbox,
  allowance,
  visibility,
  environmentUse,
  prune,
  placement,
  lists,
  workflow,
]

/** The schema that this code knows. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Brings the file to the schema this code knows, in one transaction. The caller holds no other. */
export function migrate(db: DatabaseSync, file: string): void {
  if (versionOf(db) === MIGRATIONS.length) return
  db.exec('begin immediate')
  try {
    const version = versionOf(db)
    if (version > MIGRATIONS.length) throw tooNew(file, version)
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql)
    db.exec(`pragma user_version = ${MIGRATIONS.length}`)
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version'])
}

function tooNew(file: string, version: number): StoreError {
  return new StoreError(
    'schema_too_new',
    `${file} has schema version ${version}, and this Reeve knows versions up to ${MIGRATIONS.length}.`,
    'Use a Reeve at least as new as the one that wrote it. Nothing was changed.',
  )
}
