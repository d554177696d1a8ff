import type { DatabaseSync } from 'node:sqlite'
import type { Holder, HolderRow } from '../../../core/lease/holder.ts'

export function holderStatements(db: DatabaseSync) {
  const one = db.prepare('select body, renewed_at, expires_at from holder where id = ?')
  const there = db.prepare('select 1 from holder where id = ?')
  const all = db.prepare('select body, renewed_at, expires_at from holder order by id')
  const put = db.prepare(`insert into holder values (?, ?, ?, ?)
    on conflict (id) do update set body = excluded.body, renewed_at = excluded.renewed_at, expires_at = excluded.expires_at`)
  const remove = db.prepare('delete from holder where id = ?')

  const unannounced = db.prepare(
    'select distinct holder from process where holder is not null and holder not in (select id from holder)',
  )

  return {
    read: (id: string, now: number): HolderRow | null => {
      const found = one.get(id)
      return found === undefined ? null : holderRow(found, now)
    },
    isThere: (id: string): boolean => there.get(id) !== undefined,
    all: (now: number): HolderRow[] => all.all().map((found) => holderRow(found, now)),
    put: (holder: Holder, now: number, ttlMs: number) =>
      put.run(holder.id, JSON.stringify(holder), now, now + ttlMs),
    unannounced: (): string[] => unannounced.all().map((found) => String(found['holder'])),
    remove: (id: string) => remove.run(id),
  }
}

function holderRow(found: Record<string, unknown>, now: number): HolderRow {
  return {
    ...(JSON.parse(String(found['body'])) as Holder),
    renewedAt: Number(found['renewed_at']),
    expired: Number(found['expires_at']) <= now,
  }
}
