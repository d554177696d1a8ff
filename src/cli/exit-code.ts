import { constants } from 'node:os'
import type { OutputOf } from '../verbs/reeve.ts'

type ProcessRecord = OutputOf<'show'>

export const FAILED = 1
export const USAGE = 2
export const NOT_FOUND = 3
export const DENIED = 4
export const CONFLICT = 5
export const TIMED_OUT = 124
/** An error of Reeve in `run` and `wait`, where other codes may be the command's. */
export const OWN_ERROR = 125

/** The exit code for an error with this code. */
export function exitCodeFor(code: string): number {
  if (['invalid_input', 'invalid_rule', 'bad_request', 'bad_configuration'].includes(code)) return USAGE
  if (code === 'daemon_not_running') return NOT_FOUND
  if (/(^unknown_|_unknown$|not_found$|^pruned_|^no_output$)/.test(code)) return NOT_FOUND
  if (DENIALS.has(code)) return DENIED
  return CONFLICTS.has(code) ? CONFLICT : FAILED
}

const DENIALS = new Set([
  'denied',
  'unauthorized',
  'forbidden',
  'person_required',
  'policy_invalid',
  'environment_forbidden',
  'not_ours',
  'untrusted',
])
const CONFLICTS = new Set([
  'already_ended',
  'already_running',
  'ambiguous_pid',
  'busy',
  'conflict',
  'daemon_already_running',
  'group_conflict',
  'holder_alive',
  'input_closed',
  'input_conflict',
  'name_in_use',
  'not_paused',
  'not_restorable',
  'not_running',
  'not_waiting',
  'replay_conflict',
  'session_ended',
  'stopping',
  'turn_ended',
  'wrong_store',
])

const TIME_IS_UP = ['timeout', 'idle', 'limit:runMs']

/** The command's exit code; 128 + n if a signal ended it, 124 if its time was up, 1 instead of 0 if it exceeded a limit. */
export function exitCodeOf({ outcome }: ProcessRecord): number {
  if (outcome === null || outcome.status === 'abandoned') return OWN_ERROR
  if (TIME_IS_UP.includes(outcome.reason ?? '')) return TIMED_OUT
  if (outcome.exitCode === 0 && outcome.reason?.startsWith('limit:') === true) return FAILED
  if (outcome.exitCode !== null) return outcome.exitCode
  if (outcome.signal !== null) return 128 + signalNumber(outcome.signal)
  return outcome.status === 'completed' ? 0 : FAILED
}

function signalNumber(name: string): number {
  return (constants.signals as Readonly<Record<string, number>>)[name] ?? 0
}
