import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../core/errors.ts'
import { ownText } from '../../package/own-files.ts'

/** The files in `migrations/`, in order, forward only. The number of a migration is its index here plus 1. */
export const MIGRATIONS = [
  '0001-process',
  '0002-inbox',
  '0003-allowance-accounts',
  '0004-live-processes-of-session',
  '0005-environment-use',
  '0006-prune-references',
  '0007-placement',
  '0008-list-indexes',
  '0009-workflow-kind',
  '0010-step-index',
  '0011-notice-position',
  '0012-authority',
  '0013-parent-sessions',
  '0014-reviews',
  '0015-approval-queue',
  '0016-blobs',
  '0017-audit-links',
  '0018-packed-payloads',
  '0019-schedules',
  '0020-triggers',
  '0021-liens',
  '0022-objects',
] as const

/** The schema version of this code. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Migrates the file to the schema version of this code, in one transaction. The caller is in no transaction. */
export function migrate(db: DatabaseSync, file: string): void {
  if (versionOf(db) === SCHEMA_VERSION) return
  db.exec('begin immediate')
  try {
    const version = versionOf(db)
    if (version > SCHEMA_VERSION) throw tooNew(file, version)
    for (const migration of MIGRATIONS.slice(version)) db.exec(migrationSql(migration))
    db.exec(`pragma user_version = ${SCHEMA_VERSION}`)
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

export function migrationSql(name: (typeof MIGRATIONS)[number]): string {
  return ownText(`store/sqlite/migrations/${name}.sql`)
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version'])
}

function tooNew(file: string, version: number): StoreError {
  return new StoreError(
    'schema_too_new',
    `${file} has schema version ${version}, and this Reeve knows versions up to ${SCHEMA_VERSION}.`,
    'Use a Reeve at least as new as the one that wrote it. Nothing was changed.',
  )
}
