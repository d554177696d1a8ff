import type { ErrorCode, ReeveError } from '../core/errors.ts'

/** The remedy of an error for a model: a tool call, or a message to the user. */
export function remedyFor({ code, remedy, details }: ReeveError): string {
  if (code === 'daemon_unreachable' && details['reason'] === 'stopped') return STOPPED
  // A rule of the person denies it in every session.
  if (code === 'denied' && details['rule'] !== undefined) return remedy
  return OWN.includes(code) ? remedy : (REMEDIES[code] ?? TELL)
}

/** The remedies of these errors refer to the given arguments. */
const OWN: readonly string[] = ['invalid_input', 'folder_unknown']

const TELL = 'No tool can fix this: tell the user what happened.'
const STOPPED = 'process_start starts it again, or the user runs `reeve up`.'
const AGAIN = 'Try again in a moment; if it fails again, tell the user.'
const FIND = 'process_list with status: "any" lists your processes, also those that have ended.'

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  approval_unknown: 'approval_list lists those that there are.',
  already_ended: 'process_log reads its output; process_restart runs the same command again.',
  ambiguous_pid: 'Give the whole pid; process_list has it.',
  busy: AGAIN,
  closed: AGAIN,
  conflict: 'Leave idempotencyKey out, or give another one, to start a new process.',
  daemon_unreachable:
    'Try again: it is restarted if needed. Check with process_list whether your request was carried out.',
  denied: `It belongs to another session. ${FIND}`,
  depth_exceeded: 'Too many processes start one another: start fewer levels of them.',
  empty_scope: 'Give pid, or all: true for every process of your session.',
  person_required: "The client's token names no person: tell the user.",
  forbidden: "The client's token may not do this: tell the user.",
  input_closed: 'It accepts no more input. process_restart starts it again with an open input.',
  input_full: 'It does not read its input: wait until it does, or end it with process_kill.',
  limit_exceeded:
    'End processes that you do not need with process_kill, wait until one has ended, or ask the user for a larger allowance.',
  no_input: 'Start it again with process_start and stdin: "pipe", or pty: true.',
  no_output: 'Its output was removed to save space. process_restart runs the same command again.',
  no_readiness: 'Wait for a line with until, or start it with process_start and ready.',
  no_terminal:
    'process_log and process_poll show its output; process_start with pty: true gives it a terminal.',
  not_begun: AGAIN,
  not_command: 'Only commands have output and input; process_wait waits for its end.',
  not_found: FIND,
  not_ours: 'Its program has ended; process_poll shows its status.',
  not_served: TELL,
  outcome_unknown:
    'It may or may not have been carried out: check with process_list or process_poll before you try again.',
  payload_too_large: 'Put large content into a file and give its path.',
  pruned_pid: 'It ended long ago and its record was removed. Start it again with process_start.',
  session_ended: "The client's token is bound to a session that has ended: tell the user.",
  session_unknown: AGAIN,
  stopping: 'It is being stopped: wait for its end with process_wait.',
  store_busy: AGAIN,
  store_full: 'The disk is full: tell the user, or free disk space.',
  survived: 'The named OS processes could not be killed and may hang in the operating system: tell the user.',
  too_many_commands: 'End commands that you do not need with process_kill; process_list shows what runs.',
  too_many_connections: AGAIN,
  too_many_requests: 'Wait a minute, then try again.',
  unknown_pid: `Give a pid, its beginning or a name. ${FIND}`,
}
