import type { ReeveError } from '../../core/errors.ts'

/** What to do, for somebody at a command line. What is said elsewhere speaks of verbs and their members. */
export function remedyFor({ code, remedy }: { readonly code?: string; readonly remedy: string }): string {
  return (code === undefined ? undefined : REMEDIES[code as ReeveError['code']]) ?? remedy
}

const REMEDIES: { readonly [code in ReeveError['code']]?: string } = {
  unknown_pid: 'Run reeve ps -a to see what there is.',
  ambiguous_pid: 'Give more of the pid; reeve ps -a shows them whole.',
  no_terminal: 'Start it with reeve run --pty.',
  no_input: 'Start it with reeve run -d --stdin, or --pty.',
}
