import type { DatabaseSync } from 'node:sqlite'
import type { BlobKey, BlobPage, BlobPart } from '../../stored-blobs.ts'
import { getRow } from '../rows.ts'

export function blobStatements(db: DatabaseSync) {
  const renew = db.prepare('update blob set put_at = ? where hash = ? and size is not null')
  const begin = db.prepare(`insert into blob (hash, put_at) values (?, ?)
    on conflict (hash) do update set put_at = excluded.put_at`)
  // Node binds an empty array as null.
  const putPart = db.prepare(`insert into blob_part (hash, number, bytes) values (?, ?, coalesce(?, x''))
    on conflict (hash, number) do nothing`)
  const complete = db.prepare(`update blob set size = ?1
    where hash = ?2 and (select sum(length(bytes)) from blob_part where hash = ?2) = ?1`)
  const size = db.prepare('select size from blob where hash = ?')
  const part = db.prepare('select bytes from blob_part where hash = ? and number = ?')
  const lastOfPage = db.prepare(`select put_at as putAt, hash from (
      select put_at, hash, sum(coalesce(size, 0)) over (order by put_at, hash) - coalesce(size, 0) as bytes from (
        select put_at, hash, size from blob where put_at <= ?3 and (put_at, hash) > (?1, ?2)
        order by put_at, hash limit ?4
      )
    ) where bytes < ?5 order by put_at desc, hash desc limit 1`)
  const sweep = db.prepare(`delete from blob where (put_at, hash) > (?, ?) and (put_at, hash) <= (?, ?)
    and not exists (select 1 from blob_reference where blob_reference.hash = blob.hash)`)

  return {
    renew: (hash: string, now: number): boolean => renew.run(now, hash).changes > 0,

    putPart({ hash, number, bytes, sizeOfWhole }: BlobPart, now: number): boolean {
      begin.run(hash, now)
      putPart.run(hash, number, bytes)
      return sizeOfWhole === null || complete.run(sizeOfWhole, hash).changes > 0
    },

    size(hash: string): number | null {
      return getRow<{ size: number | null }>(size, hash)?.size ?? null
    },

    part(hash: string, number: number): Uint8Array | null {
      return getRow<{ bytes: Uint8Array }>(part, hash, number)?.bytes ?? null
    },

    sweepPage({ after, before, limit, bytes }: BlobPage) {
      const last = getRow<BlobKey>(lastOfPage, after.putAt, after.hash, before, limit, bytes)
      if (last === undefined) return { deleted: 0, last: null }
      const { changes } = sweep.run(after.putAt, after.hash, last.putAt, last.hash)
      return { deleted: Number(changes), last }
    },
  }
}
