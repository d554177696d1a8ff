import type { DatabaseSync } from 'node:sqlite'
import { getRow } from '../rows.ts'

/** The counters of the store, all in one row. */
export interface Meta {
  position: number
  prunedThrough: number
  live: number
}

export type MetaStatements = ReturnType<typeof metaStatements>

export function metaStatements(db: DatabaseSync) {
  const read = db.prepare('select position, pruned_through as prunedThrough, live from meta')
  const write = db.prepare('update meta set position = ?, pruned_through = ?, live = ? where id = 1')
  const secret = db.prepare('select secret from meta')
  const version = db.prepare('pragma data_version')

  return {
    read(): Meta {
      const found = getRow<Meta>(read)
      if (found === undefined) throw new Error('The table meta is empty')
      const { position, prunedThrough, live } = found
      return { position, prunedThrough, live }
    },
    write: (meta: Meta) => write.run(meta.position, meta.prunedThrough, meta.live),
    secret: (): string => String(secret.get()?.['secret']),
    /** A number that changes whenever another connection has committed. */
    foreignVersion: (): number => Number(version.get()?.['data_version']),
  }
}
