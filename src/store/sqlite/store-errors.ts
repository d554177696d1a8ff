import { messageOf } from '../../base/error-text.ts'
import { missingBlobs } from '../../core/blob/blob-missing.ts'
import { ReeveError, StoreError } from '../../core/errors.ts'

const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const CONSTRAINT = 19
const NOTADB = 26

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === BUSY || code === LOCKED
}

export function isFull(error: unknown): boolean {
  return primaryCode(error) === FULL
}

/** Whether the error is about one plan's changes: a duplicate key, or a blob that is not there. */
export function isPlanFault(error: unknown): boolean {
  return primaryCode(error) === CONSTRAINT || missingBlobs(error) !== undefined
}

/** Turns an error of SQLite into one that a person can act on. `committing`: the commit itself failed. */
export function toStoreError(error: unknown, file: string, committing = false): unknown {
  if (error instanceof ReeveError) return error
  const code = primaryCode(error)
  const said = messageOf(error)
  const problem = (name: StoreError['code'], happened: string, remedy: string) =>
    new StoreError(name, `${happened} (${said})`, remedy, { cause: error })
  switch (code) {
    case undefined:
      return error
    case BUSY:
    case LOCKED:
      return problem(
        'store_busy',
        `${file} is locked by another process.`,
        'Try again, or end the process that keeps it locked. Nothing was changed.',
      )
    case READONLY:
      return problem(
        'store_read_only',
        `${file} cannot be written.`,
        'Make the file and its folder writable. Nothing was changed.',
      )
    case FULL:
      return problem(
        'store_full',
        `The disk under ${file} is full.`,
        'Free some space and try again. Nothing was changed.',
      )
    case NOTADB:
      return problem(
        'store_corrupt',
        `${file} is no SQLite database.`,
        'Give another file, or one that is yet to be made. If it was a store once, restore it from a copy.',
      )
    case CORRUPT:
      return problem(
        'store_corrupt',
        `${file} is not a sound Reeve store.`,
        'Restore it from a copy; keep the broken file for a look.',
      )
    case CANTOPEN:
      return problem(
        'store_unavailable',
        `${file} cannot be opened.`,
        'Check that its folder exists and may be written.',
      )
    case IOERR:
      return committing
        ? problem(
            'outcome_unknown',
            `The disk under ${file} failed during a commit.`,
            'Look whether the change is there before you repeat it.',
          )
        : problem(
            'store_unavailable',
            `The disk under ${file} failed.`,
            'Check the disk and try again. Nothing was changed.',
          )
    default:
      return problem('store_unavailable', `${file} could not be used.`, 'See the cause. Nothing was changed.')
  }
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}
