import type { DatabaseSync } from 'node:sqlite'

/** The store's own counters, in one row: read at the start of a commit and written once at its end. */
export interface Meta {
  position: number
  prunedThrough: number
  live: number
}

export function metaStatements(db: DatabaseSync) {
  const read = db.prepare('select position, pruned_through as prunedThrough, live from meta')
  const write = db.prepare('update meta set position = ?, pruned_through = ?, live = ? where id = 1')
  const secret = db.prepare('select secret from meta')
  const version = db.prepare('pragma data_version')

  return {
    read: (): Meta => ({ ...(read.get() as unknown as Meta) }),
    write: (meta: Meta) => write.run(meta.position, meta.prunedThrough, meta.live),
    secret: (): string => String(secret.get()?.['secret']),
    /** Changes whenever another connection has committed. */
    foreignVersion: (): number => Number(version.get()?.['data_version']),
  }
}
