import type { Refusal, RefusalCode } from './refusal.ts'

/** Codes of errors outside of the rules: the store, the machine, or a closed kernel. */
type TroubleCode =
  | 'blob_missing'
  | 'closed'
  | 'daemon_already_running'
  | 'daemon_unreachable'
  | 'keeper_unavailable'
  | 'outcome_unknown'
  | 'record_unreadable'
  | 'schema_too_new'
  | 'secrets_unusable'
  | 'store_busy'
  | 'store_corrupt'
  | 'store_full'
  | 'store_read_only'
  | 'store_unavailable'
  | 'wrong_store'

/** Codes of a surface that refuses before any verb is called: HTTP, the socket and the daemon's own start. */
type DoorCode =
  | 'address_in_use'
  | 'backup_unsupported'
  | 'backup_unusable'
  | 'bad_configuration'
  | 'bad_request'
  | 'body_too_large'
  | 'daemon_not_running'
  | 'daemon_not_started'
  | 'daemon_not_stopped'
  | 'folder_in_use'
  | 'folder_unknown'
  | 'forbidden'
  | 'gap'
  | 'home_unusable'
  | 'internal'
  | 'method_not_allowed'
  | 'too_many_connections'
  | 'too_many_requests'
  | 'unauthorized'
  | 'unsupported_media_type'

export type ErrorCode = RefusalCode | TroubleCode | DoorCode

/**
 * Everything that Reeve throws. `code` is stable, `message` says what happened, `remedy` what to do next.
 *
 * ```ts
 * try { await reeve.show({ pid: 'p_nope' }) } catch (error) {
 *   if (error instanceof ReeveError && error.code === 'unknown_pid') console.error(error.remedy)
 * }
 * ```
 */
export class ReeveError extends Error {
  override readonly name: string = 'ReeveError'
  readonly code: ErrorCode
  readonly remedy: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string,
    remedy: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.remedy = remedy
    this.details = options.details ?? {}
  }
}

/** A rule refused, and nothing was changed. */
export class RefusedError extends ReeveError {
  override readonly name = 'RefusedError'
  constructor(refusal: Refusal) {
    super(refusal.code, refusal.message, refusal.remedy, { details: refusal.details ?? {} })
  }
}

/** The store could not be asked. Unless `code` is `outcome_unknown`, nothing was changed. */
export class StoreError extends ReeveError {
  override readonly name = 'StoreError'
}

/** The process whose record could not be read, if that is the cause of the error. */
export function unreadablePid(error: unknown): string | undefined {
  if (!(error instanceof StoreError) || error.code !== 'record_unreadable') return undefined
  return String(error.details['pid'])
}
