import type { ErrorCode, ReeveError } from '../core/errors.ts'

/** What a model can do about an error: with the tools it has, or by telling the user. */
export function remedyFor({ code, remedy, details }: ReeveError): string {
  if (code === 'daemon_unreachable' && details['reason'] === 'stopped') return STOPPED
  return OWN.includes(code) ? remedy : (REMEDIES[code] ?? TELL)
}

/** They say what to do about the very arguments that were given. */
const OWN: readonly string[] = ['invalid_input', 'folder_unknown']

const TELL = 'No tool can fix this: tell the user what happened.'
const STOPPED = 'process_start starts it again, or the user runs `reeve up`.'
const AGAIN = 'Try again in a moment; if that does not help, tell the user.'
const FIND = 'process_list with status: "any" lists your processes, also those that have ended.'

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  already_ended: 'process_log reads what it printed; process_restart runs the same again.',
  ambiguous_pid: 'Give the whole pid; process_list has it.',
  busy: AGAIN,
  closed: AGAIN,
  conflict: 'Leave idempotencyKey out, or give another one, to start a new process.',
  daemon_unreachable:
    'Try again: it is restarted if need be. Look with process_list whether what you asked for was done.',
  denied: `It belongs to another session. ${FIND}`,
  depth_exceeded: 'Too many processes start one another: start fewer levels of them.',
  empty_scope: 'Give pid, or all: true for every process of your session.',
  forbidden: "The client's token may not do this: tell the user.",
  input_closed: 'It takes no more input. process_restart starts it again with a new one.',
  input_full: 'It does not read what you type: wait until it does, or end it with process_kill.',
  limit_exceeded:
    'End what is not needed with process_kill, wait until something has ended, or ask the user for a larger allowance.',
  no_input: 'Start it again with process_start and stdin: "pipe", or pty: true.',
  no_output: 'What it printed was dropped to save space. process_restart runs the same again.',
  no_readiness: 'Wait for a line with until, or start it with process_start and ready.',
  no_terminal:
    'process_log and process_poll show what it printed; process_start with pty: true gives it a terminal.',
  not_begun: AGAIN,
  not_command: 'Only commands have output and input; process_wait waits for its end.',
  not_found: FIND,
  not_ours: 'Its program has ended; process_poll tells how it is.',
  not_served: TELL,
  outcome_unknown:
    'It may have been done, or not: look with process_list or process_poll before you try again.',
  payload_too_large: 'Put what is large into a file, and give the path.',
  pruned_pid: 'It ended long ago, and nothing of it is kept. Start it again with process_start.',
  session_ended: "The client's token is bound to a session that has ended: tell the user.",
  session_unknown: AGAIN,
  stopping: 'It is being stopped: wait for its end with process_wait.',
  store_busy: AGAIN,
  store_full: 'The disk is full: tell the user, or make room.',
  survived: 'What is named could not be ended, and may hang in the operating system: tell the user.',
  too_many_commands: 'End what is not needed with process_kill; process_list shows what runs.',
  too_many_connections: AGAIN,
  too_many_requests: 'Wait a minute, then try again.',
  unknown_pid: `Give a pid, its beginning or a name. ${FIND}`,
}
