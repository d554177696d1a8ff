import { STATUS_CODES } from 'node:http'
import { type ErrorCode, ReeveError } from '../core/errors.ts'

const PROBLEM_TYPE = 'application/problem+json'

/** The answer to a request that failed or was refused: a problem document of RFC 9457. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode
  readonly remedy: string
  readonly details: Readonly<Record<string, unknown>>
}

export function problemOf(error: ReeveError): Problem {
  const status = statusOf(error.code)
  return {
    type: `urn:reeve:error:${error.code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: error.message,
    code: error.code,
    remedy: error.remedy,
    details: error.details,
  }
}

/** An unexpected error becomes `internal`, which reveals nothing of its cause. The log has the cause. */
export function foreseen(error: unknown): ReeveError {
  if (error instanceof ReeveError) return error
  return new ReeveError(
    'internal',
    'Something went wrong in Reeve itself.',
    "Try again; the daemon's log has the cause.",
    { cause: error },
  )
}

export function problemResponse(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = problemOf(foreseen(error))
  return new Response(problemText(problem), {
    status: problem.status,
    headers: { ...problemHeaders(problem), ...headers },
  })
}

export function problemHeaders({ code, details }: Problem): Record<string, string> {
  const type = { 'Content-Type': PROBLEM_TYPE }
  // A refused connection must not keep a slot that another client may need.
  if (code === 'unauthorized')
    return { ...type, 'WWW-Authenticate': 'Bearer realm="reeve"', Connection: 'close' }
  if (code === 'too_many_connections') return { ...type, Connection: 'close' }
  const { retryAfterSeconds } = details
  return typeof retryAfterSeconds === 'number' ? { ...type, 'Retry-After': String(retryAfterSeconds) } : type
}

/** `details` may hold values that JSON cannot. */
export function problemText(problem: Problem): string {
  try {
    return JSON.stringify(problem)
  } catch {
    return JSON.stringify({ ...problem, details: {} })
  }
}

const STATUS: { readonly [code in ErrorCode]?: number } = {
  bad_request: 400,
  folder_unknown: 400,
  unauthorized: 401,
  denied: 403,
  forbidden: 403,
  person_required: 403,
  policy_invalid: 403,
  untrusted: 403,
  environment_unknown: 404,
  not_found: 404,
  session_unknown: 404,
  turn_unknown: 404,
  unknown_pid: 404,
  no_output: 404,
  method_not_allowed: 405,
  behind_pruned: 410,
  gap: 410,
  pruned_pid: 410,
  body_too_large: 413,
  payload_too_large: 413,
  unsupported_media_type: 415,
  empty_scope: 422,
  environment_forbidden: 422,
  invalid_input: 422,
  invalid_rule: 422,
  lifetime_without_scope: 422,
  payload_mismatch: 422,
  replay_key_required: 422,
  undeclared_event: 422,
  inbox_full: 429,
  input_full: 429,
  limit_exceeded: 429,
  signals_full: 429,
  too_many_commands: 429,
  too_many_requests: 429,
  internal: 500,
  not_available: 501,
  bad_configuration: 503,
  closed: 503,
  keeper_unavailable: 503,
  not_served: 503,
  outcome_unknown: 503,
  schema_too_new: 503,
  store_busy: 503,
  record_unreadable: 500,
  store_corrupt: 503,
  store_full: 503,
  store_read_only: 503,
  store_unavailable: 503,
  too_many_connections: 503,
}

/** Every other code depends on the current state: a conflict. */
function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 409
}
