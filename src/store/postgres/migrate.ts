import { StoreError } from '../../core/errors.ts'
import { functions } from './functions.ts'
import type { Link } from './link.ts'
import { sql as process } from './migrations/0001-process.ts'
import { sql as inbox } from './migrations/0002-inbox.ts'
import { sql as allowance } from './migrations/0003-allowance.ts'
import { sql as visibility } from './migrations/0004-visibility.ts'
import { sql as environmentUse } from './migrations/0005-environment-use.ts'
import { sql as prune } from './migrations/0006-prune.ts'
import { sql as placement } from './migrations/0007-placement.ts'
import { sql as lists } from './migrations/0008-lists.ts'
import { sql as workflow } from './migrations/0009-workflow.ts'

/** Only the functions differ, which are replaced with every migration. */
const functionsAlone = () => ''

/** In order, forward only; the number of a migration is its place here, from 1. */
export const MIGRATIONS: readonly ((at: string) => string)[] = [
  ...[process, inbox, allowance],
  ...[functionsAlone, functionsAlone],
  visibility,
  environmentUse,
  prune,
  placement,
  lists,
  ...[functionsAlone, functionsAlone],
  workflow,
]

/** Brings the schema to what this code knows, in one transaction; of several stores that try, one does it. */
export async function migrate(link: Link, schema: string, at: string): Promise<void> {
  if ((await versionOf(link, at)) === MIGRATIONS.length) return
  await link.begin(async (run) => {
    // Another store that migrates may take its time.
    await run('set local lock_timeout = 0')
    await run(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`reeve:${schema}`])
    const [found] = await run<{ schema: string | null }>(`select to_regnamespace($1)::text as schema`, [
      at.slice(0, -1),
    ])
    // Even with "if not exists" this asks for the right to make schemas, which the owner of this one may lack.
    if (found?.schema === null) await run(`create schema ${at.slice(0, -1)}`)
    await run(
      `create table if not exists ${at}migration (number integer primary key, at timestamptz not null)`,
    )
    const [last] = await run<{ version: number }>(
      `select coalesce(max(number), 0) as version from ${at}migration`,
    )
    const version = last?.version ?? 0
    if (version > MIGRATIONS.length) throw tooNew(schema, version)
    if (version === MIGRATIONS.length) return
    for (const [index, migration] of MIGRATIONS.entries()) {
      if (index < version) continue
      const tables = migration(at)
      if (tables !== '') await run(tables)
      await run(`insert into ${at}migration values ($1, now())`, [index + 1])
    }
    await run(dropWriters(at))
    await run(functions(at))
  })
}

/**
 * Functions with other parameters are other functions, which `create or replace` leaves in place. A program of an earlier version,
 * still connected, would go on writing rows without what later versions need; now its writes fail.
 */
const dropWriters = (at: string) => `do $body$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p where p.pronamespace = '${at.slice(0, -1).replaceAll("'", "''")}'::regnamespace
      and p.proname in ('commit_changes', 'commit_one')
  loop
    execute 'drop function ' || v_function;
  end loop;
end
$body$`

async function versionOf(link: Link, at: string): Promise<number> {
  const [found] = await link.query<{ there: string | null }>(`select to_regclass($1)::text as there`, [
    `${at}migration`,
  ])
  if (found === undefined || found.there === null) return 0
  const [last] = await link.query<{ version: number }>(
    `select coalesce(max(number), 0) as version from ${at}migration`,
  )
  return last?.version ?? 0
}

function tooNew(schema: string, version: number): StoreError {
  return new StoreError(
    'schema_too_new',
    `The schema ${schema} has version ${version}, and this Reeve knows versions up to ${MIGRATIONS.length}.`,
    'Use a Reeve at least as new as the one that wrote it. Nothing was changed.',
  )
}
