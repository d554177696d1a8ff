import { codeOf, messageOf } from '../../base/error-text.ts'
import { blobMissing } from '../../core/blob/blob-missing.ts'
import { ReeveError, StoreError } from '../../core/errors.ts'

/** Nothing was written, because a row has changed since it was read: two transactions collided, or a check in a function failed. */
const CONTENDED = new Set(['23505', '40001', '40P01', '55P03', 'RV001'])
/** Errors of the connection, of Node's sockets, and of a server that stops, starts, or has too many clients. */
const UNREACHABLE =
  /^(CONNECT_|CONNECTION_|08|57P0[1235]|53300|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|NO_ANSWER)/

/** Whether another attempt may find other facts. A faster writer may have taken a unique key. */
export function isContended(error: unknown): boolean {
  return CONTENDED.has(errorCode(error))
}

export function isUnreachable(error: unknown): boolean {
  return UNREACHABLE.test(errorCode(error))
}

/** Whether a row was locked by another transaction for longer than a commit waits. */
export function isLocked(error: unknown): boolean {
  return errorCode(error) === '55P03'
}

/** Whether there was no connection, so that nothing was sent. */
export function neverSent(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|57P03|53300)$/.test(errorCode(error))
}

/** Whether a rule set has changed since the commit was decided. Nothing was written. */
export function isRuleChange(error: unknown): boolean {
  return codeOf(error) === 'RV003'
}

/** The code of `change_blob_references`: a blob that the commit refers to is not there. The detail lists the hashes. */
const BLOB_MISSING = 'RV004'

/** Whether a commit arrived after its store had given it up. */
export function isGivenUp(error: unknown): boolean {
  return errorCode(error) === 'RV002'
}

/** Whether the server is starting: worth waiting for, unlike a mistyped address. */
export function isStarting(error: unknown): boolean {
  return errorCode(error) === '57P03' || errorCode(error) === '53300'
}

/**
 * Whether the error is about the data of one plan, and does not concern the other plans of the batch: a value that the server
 * refuses, or that could not be sent, or a blob that is not there.
 */
export function isPlanFault(error: unknown): boolean {
  return error instanceof Error && /^(22|23|RV004|UNDEFINED_VALUE|$)/.test(errorCode(error))
}

/** The error for a connection that hangs, like that of a dead one. */
export function noAnswer(ms: number): Error {
  return Object.assign(new Error(`no answer within ${ms} ms`), { code: 'NO_ANSWER' })
}

/** Turns an error of PostgreSQL into one that a person can act on. `committing`: a commit was sent, and its outcome is unknown. */
export function toStoreError(error: unknown, where: string, committing = false): unknown {
  if (error instanceof ReeveError) return error
  const code = errorCode(error)
  if (code === '') return error
  if (code === BLOB_MISSING) return blobMissing(detailOf(error))
  const said = messageOf(error)
  const problem = (name: StoreError['code'], happened: string, remedy: string) =>
    new StoreError(name, `${happened} (${said})`, remedy, { cause: withoutData(error, code) })
  if (isUnreachable(error)) {
    return committing
      ? problem(
          'outcome_unknown',
          `${where} went away during a commit and did not come back.`,
          'Look whether the change is there before you repeat it.',
        )
      : problem(
          'store_unavailable',
          `${where} cannot be reached.`,
          'Check that the server runs and that the address is right. Nothing was changed.',
        )
  }
  // No StoreError: the store works, and a retry cannot help.
  if (code.startsWith('22'))
    return new ReeveError(
      'invalid_input',
      `${where} cannot hold a value of this. (${said})`,
      'Look for a NUL character, or a number that is too large, in what was asked. Nothing was changed.',
      { cause: withoutData(error, code) },
    )
  switch (code) {
    case '28P01':
    case '28000':
      return problem(
        'store_unavailable',
        `${where} refuses this user.`,
        'Check user name and password in the address.',
      )
    case '3D000':
      return problem(
        'store_unavailable',
        `${where} does not exist.`,
        'Create the database, or name another one.',
      )
    case '42501':
      return problem(
        'store_unavailable',
        `This user lacks a right in ${where}.`,
        'Grant it create and usage on the schema, or create on the database.',
      )
    case '25006':
      return problem(
        'store_read_only',
        `${where} cannot be written.`,
        'Connect to the primary server, or end its read-only mode. Nothing was changed.',
      )
    case '53100':
      return problem(
        'store_full',
        `The disk of ${where} is full.`,
        'Free some space and try again. Nothing was changed.',
      )
    case '42883':
      return problem(
        'schema_too_new',
        `A newer Reeve has migrated ${where}, so that this one can no longer write to it.`,
        'Use a Reeve at least as new as that one. Nothing was changed.',
      )
    case '42P01':
    case '3F000':
    case 'XX001':
    case 'XX002':
      return problem(
        'store_corrupt',
        `${where} holds no sound Reeve store.`,
        'Restore it from a copy; keep the broken one for a look.',
      )
    case '40001':
    case '40P01':
    case '55P03':
    case '57014':
      return problem('store_busy', `${where} is busy with other writers.`, 'Try again. Nothing was changed.')
    default:
      return problem(
        'store_unavailable',
        `${where} could not be used.`,
        'See the cause. Nothing was changed.',
      )
  }
}

export function busy(where: string): StoreError {
  return new StoreError(
    'store_busy',
    `Other writers of ${where} were faster each time.`,
    'Try again. Nothing was changed.',
  )
}

export function locked(where: string): StoreError {
  return new StoreError(
    'store_busy',
    `Another transaction in ${where} keeps a row locked that this change needs.`,
    'Look for a transaction that is left open (pg_stat_activity), end it, and try again. Nothing was changed.',
  )
}

/** The library attaches the statement and all its values to the error, which must not get into a log. */
function withoutData(error: unknown, code: string): Error {
  return Object.assign(new Error(messageOf(error)), { code })
}

function detailOf(error: unknown): readonly string[] {
  const detail: unknown = error instanceof Error && 'detail' in error ? error.detail : undefined
  return typeof detail === 'string' ? (JSON.parse(detail) as string[]) : []
}

/** A SQLSTATE, or the code of the driver or the system; empty for an error without one. */
function errorCode(error: unknown): string {
  return codeOf(error) ?? ''
}
