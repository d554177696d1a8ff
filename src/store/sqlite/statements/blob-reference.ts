import type { DatabaseSync } from 'node:sqlite'
import type { BlobChanges } from '../../../core/blob/blob.ts'
import { blobMissing } from '../../../core/blob/blob-missing.ts'

/** Which process refers to which blob. */
export function blobReferenceStatements(db: DatabaseSync) {
  const missing = db.prepare(`select value as hash from json_each(?)
    where not exists (select 1 from blob where blob.hash = value and size is not null)`)
  const add =
    db.prepare(`insert into blob_reference (process, hash) select ?, value from json_each(?) where true
    on conflict do nothing`)
  const remove = db.prepare(
    'delete from blob_reference where process = ? and hash in (select value from json_each(?))',
  )

  return {
    /** Throws if an added blob is not there. */
    change(process: number, { added, removed }: BlobChanges): void {
      if (removed.length > 0) remove.run(process, JSON.stringify(removed))
      if (added.length === 0) return
      const hashes = JSON.stringify(added)
      const gone = missing.all(hashes)
      if (gone.length > 0) throw blobMissing(gone.map(({ hash }) => String(hash)))
      add.run(process, hashes)
    },
  }
}
