import { type ErrorCode, ReeveError, RefusedError, StoreError } from '../core/errors.ts'
import type { RefusalCode } from '../core/refusal.ts'

/** Codes of errors: something failed, or the server refused the request as such. Every other code is a refusal by a rule. */
const TROUBLE: ReadonlySet<string> = new Set([
  'blob_missing',
  'closed',
  'daemon_already_running',
  'daemon_unreachable',
  'keeper_unavailable',
  'outcome_unknown',
  'wrong_store',
  'bad_request',
  'unauthorized',
  'forbidden',
  'method_not_allowed',
  'unsupported_media_type',
  'body_too_large',
  'too_many_requests',
  'too_many_connections',
  'internal',
  'gap',
])

/** A problem document as the error that `embed` would have thrown. */
export function errorOf(status: number, text: string): ReeveError {
  const { code, message, remedy, details } = problemIn(status, text)
  if (/^(store|schema)_/.test(code)) return new StoreError(code as ErrorCode, message, remedy, { details })
  if (TROUBLE.has(code)) return new ReeveError(code as ErrorCode, message, remedy, { details })
  return new RefusedError({ code: code as RefusalCode, message, remedy, details })
}

function problemIn(status: number, text: string) {
  const problem = objectIn(text)
  const textOf = (member: string) => (typeof problem[member] === 'string' ? problem[member] : undefined)
  const details = problem['details']
  return {
    code: textOf('code') ?? 'internal',
    message: textOf('detail') ?? textOf('title') ?? `The daemon answered with status ${status}.`,
    remedy: textOf('remedy') ?? 'Look at its log (daemon.log in its home).',
    details: typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {},
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
