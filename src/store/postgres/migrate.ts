import { StoreError } from '../../core/errors.ts'
import { ownText } from '../../package/own-files.ts'
import type { Link, Run } from './link.ts'

/**
 * The files in `migrations/`, in order, forward only. The number of a migration is its index here plus 1. Every migration
 * also replaces all functions; a file without statements is there for that alone.
 */
export const MIGRATIONS = [
  '0001-process',
  '0002-inbox',
  '0003-allowance-accounts',
  '0004-functions-notify-open-stores',
  '0005-functions-commit-one',
  '0006-live-processes-of-session',
  '0007-environment-use',
  '0008-prune-references',
  '0009-placement',
  '0010-list-indexes',
  '0011-functions-settle-without-lock-timeout',
  '0012-functions-announced-holder',
  '0013-workflow-kind',
  '0014-step-index',
  '0015-notice-position',
  '0016-authority',
  '0017-parent-sessions',
  '0018-reviews',
  '0019-approval-queue',
  '0020-blobs',
  '0021-audit-links',
  '0022-outcome-in-last-event',
  '0023-schedules',
  '0024-triggers',
  '0025-liens',
  '0026-objects',
] as const

/** The files in `functions/`. They show the functions as they are now; git has the earlier ones. */
export const FUNCTIONS = [
  'now-ms',
  'stale-keys',
  'lock-and-find-stale',
  'drop-unused-environments',
  'drop-rule-uses',
  'change-blob-references',
  'prune-processes',
  'apply-rest',
  'append-audit',
  'apply-authority',
  'finish-commit',
  'commit-changes',
  'commit-one',
  'settle',
  'stay',
  'put-blob-part',
  'sweep-blobs',
] as const

const SCHEMA_VERSION = MIGRATIONS.length

/**
 * Migrates the schema to the version of this code, in one transaction; if several stores try, one does it. `at` is the
 * quoted schema with a dot.
 */
export async function migrate(link: Link, schema: string, at: string): Promise<void> {
  if ((await versionOf(link, at)) === SCHEMA_VERSION) return
  await link.begin(async (run) => {
    // Another store may hold the lock for as long as its migration takes.
    await run('set local lock_timeout = 0')
    await run(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`reeve:${schema}`])
    const [found] = await run<{ schema: string | null }>(`select to_regnamespace($1)::text as schema`, [
      at.slice(0, -1),
    ])
    // Even "create schema if not exists" needs the right to create schemas, which the owner of this one may lack.
    if (found?.schema === null) await run(`create schema ${at.slice(0, -1)}`)
    await run(
      `create table if not exists ${at}migration (number integer primary key, at timestamptz not null)`,
    )
    const [last] = await run<{ version: number }>(
      `select coalesce(max(number), 0) as version from ${at}migration`,
    )
    const version = last?.version ?? 0
    if (version > SCHEMA_VERSION) throw tooNew(schema, version)
    if (version === SCHEMA_VERSION) return
    for (const [index, migration] of MIGRATIONS.entries()) {
      if (index < version) continue
      await run(migrationSql(migration, at))
      await run(`insert into ${at}migration values ($1, now())`, [index + 1])
    }
    await dropCommitFunctions(run, at)
    await run(FUNCTIONS.map((name) => sqlFile(`functions/${name}`, at)).join('\n'))
  })
}

export function migrationSql(name: (typeof MIGRATIONS)[number], at: string): string {
  return sqlFile(`migrations/${name}`, at)
}

/** The files are written for the schema `reeve`. */
function sqlFile(path: string, at: string): string {
  return ownText(`store/postgres/${path}.sql`).replaceAll(/\breeve\./g, () => at)
}

/**
 * Functions with other parameters are other functions, which `create or replace` leaves in place. A program of an earlier
 * version that is still connected would go on writing rows without the columns that later versions need; now its writes
 * fail.
 */
async function dropCommitFunctions(run: Run, at: string): Promise<void> {
  const found = await run<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
      where p.pronamespace = to_regnamespace($1) and p.proname in ('commit_changes', 'commit_one')`,
    [at.slice(0, -1)],
  )
  for (const { signature } of found) await run(`drop function ${signature}`)
}

async function versionOf(link: Link, at: string): Promise<number> {
  const [found] = await link.query<{ name: string | null }>(`select to_regclass($1)::text as name`, [
    `${at}migration`,
  ])
  if (found === undefined || found.name === null) return 0
  const [last] = await link.query<{ version: number }>(
    `select coalesce(max(number), 0) as version from ${at}migration`,
  )
  return last?.version ?? 0
}

function tooNew(schema: string, version: number): StoreError {
  return new StoreError(
    'schema_too_new',
    `The schema ${schema} has version ${version}, and this Reeve knows versions up to ${SCHEMA_VERSION}.`,
    'Use a Reeve at least as new as the one that wrote it. Nothing was changed.',
  )
}
