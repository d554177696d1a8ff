import type { ReeveError } from '../../core/errors.ts'
import { quoted } from './status.ts'

interface Failure {
  readonly code?: string
  readonly remedy: string
  readonly details?: unknown
}

/** The remedy in terms of the command line. The remedies of verbs speak of verbs and their fields. */
export function remedyFor({ code, remedy, details }: Failure): string {
  if (code === 'session_unknown') return forSession(details) ?? remedy
  return (code === undefined ? undefined : REMEDIES[code as ReeveError['code']]) ?? remedy
}

function forSession(details: unknown): string | undefined {
  const { session } = Object(details) as { readonly session?: unknown }
  if (typeof session !== 'string') return undefined
  return `reeve session open ${quoted(session)} opens it; reeve session list lists all sessions.`
}

const REMEDIES: { readonly [code in ReeveError['code']]?: string } = {
  unknown_pid: 'Run reeve ps -a to list all processes.',
  ambiguous_pid: 'Give more of the pid; reeve ps -a shows whole pids.',
  no_terminal: 'Start it with reeve run --pty.',
  unauthorized:
    'Correct or unset REEVE_TOKEN, or give --token <token>; without both, the token in the home of the daemon is used.',
  no_input: 'Start it with reeve run -d --stdin, or --pty.',
}
