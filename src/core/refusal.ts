/**
 * An expected no, as a value: what happened, and what to do about it. Deciders return refusals and never throw;
 * a surface turns one into a `ReeveError`, a problem document or an exit code, each in one module.
 */
export interface Refusal {
  readonly code: RefusalCode
  readonly message: string
  readonly remedy: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Stable: callers compare these. Each has one meaning on every surface. */
export type RefusalCode =
  | 'already_ended'
  | 'already_running'
  | 'ambiguous_pid'
  | 'approval_unknown'
  | 'behind_pruned'
  | 'busy'
  | 'conflict'
  | 'denied'
  | 'depth_exceeded'
  | 'empty_scope'
  | 'environment_forbidden'
  | 'environment_unknown'
  | 'group_conflict'
  | 'holder_alive'
  | 'inbox_full'
  | 'input_closed'
  | 'input_conflict'
  | 'input_full'
  | 'invalid_input'
  | 'invalid_request'
  | 'invalid_rule'
  | 'lifetime_without_scope'
  | 'limit_exceeded'
  | 'name_in_use'
  | 'no_input'
  | 'no_output'
  | 'no_readiness'
  | 'no_terminal'
  | 'not_available'
  | 'not_begun'
  | 'not_claimable'
  | 'not_command'
  | 'not_external'
  | 'not_found'
  | 'not_holding'
  | 'not_ours'
  | 'not_paused'
  | 'not_restorable'
  | 'not_running'
  | 'not_served'
  | 'not_trackable'
  | 'not_waiting'
  | 'owned_elsewhere'
  | 'path_held'
  | 'payload_mismatch'
  | 'payload_too_large'
  | 'person_required'
  | 'policy_invalid'
  | 'pruned_pid'
  | 'replay_conflict'
  | 'replay_key_required'
  | 'secret_unknown'
  | 'session_ended'
  | 'session_unknown'
  | 'signals_full'
  | 'stale_fence'
  | 'stopping'
  | 'survived'
  | 'too_many_commands'
  | 'turn_ended'
  | 'turn_unknown'
  | 'undeclared_event'
  | 'unknown_pid'
  | 'unstorable_value'
  | 'untrusted'

export function refusal(
  code: RefusalCode,
  message: string,
  remedy: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return details === undefined ? { code, message, remedy } : { code, message, remedy, details }
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'code' in value && 'remedy' in value
}
