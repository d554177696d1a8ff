import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../core/errors.ts'
import { isFull, toStoreError } from './store-errors.ts'

/** The contents of a copy. */
export interface CopyReport {
  readonly schemaVersion: number
  readonly processes: number
}

/**
 * Writes a consistent, compact copy of a store to a new file. It reads one snapshot, so programs that use the store go on
 * writing meanwhile.
 */
export function copySqlite(from: string, to: string): CopyReport {
  try {
    const source = new DatabaseSync(from, { readOnly: true, timeout: READ_TIMEOUT_MS })
    try {
      source.prepare('vacuum into ?').run(to)
    } finally {
      source.close()
    }
  } catch (error) {
    // Only the copy needs space: the disk to free is the one below it.
    throw toStoreError(error, isFull(error) ? to : from)
  }
  return checkCopy(to)
}

/** Reads a copy from its first page to its last; throws if a page is damaged. */
export function checkCopy(file: string): CopyReport {
  try {
    const copy = new DatabaseSync(file, { readOnly: true })
    try {
      const said = copy.prepare('pragma integrity_check(1)').get()?.['integrity_check']
      if (said !== 'ok') throw damaged(file, String(said))
      return {
        schemaVersion: Number(copy.prepare('pragma user_version').get()?.['user_version']),
        processes: Number(copy.prepare('select count(*) as count from process').get()?.['count']),
      }
    } finally {
      copy.close()
    }
  } catch (error) {
    throw error instanceof StoreError ? error : toStoreError(error, file)
  }
}

const READ_TIMEOUT_MS = 5_000

function damaged(file: string, found: string): StoreError {
  return new StoreError(
    'store_corrupt',
    `${file} is damaged: ${found}.`,
    'Use another backup, or run reeve doctor on the home it was made from.',
  )
}
