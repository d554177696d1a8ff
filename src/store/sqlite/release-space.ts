import type { DatabaseSync } from 'node:sqlite'

/** Free pages that stay in the file for later writes: 4 MB. */
const MAX_FREE_PAGES = 1_000
/** Pages per step: some milliseconds. */
const STEP_PAGES = 500
/** A file of an earlier version is rewritten as a whole, once, if it has at most this many used pages: 40 MB. */
const MAX_REWRITTEN_PAGES = 10_000

const INCREMENTAL = 2

/** One step: moves pages from the end of the file to free ones, and truncates it. Throws if the file is locked. */
export function releaseSpace(db: DatabaseSync): 'more' | 'done' {
  const read = (pragma: string) => Number(Object.values(db.prepare(`pragma ${pragma}`).get() ?? {})[0])
  const free = read('freelist_count')
  if (free <= MAX_FREE_PAGES) return 'done'
  if (read('auto_vacuum') === INCREMENTAL) {
    db.exec(`pragma incremental_vacuum(${Math.min(STEP_PAGES, free - MAX_FREE_PAGES)})`)
  } else {
    if (read('page_count') - free > MAX_REWRITTEN_PAGES) return 'done'
    db.exec('pragma auto_vacuum = incremental; vacuum')
  }
  if (read('freelist_count') > MAX_FREE_PAGES) return 'more'
  // The file itself becomes shorter with a checkpoint.
  db.exec('pragma wal_checkpoint(passive)')
  return 'done'
}
