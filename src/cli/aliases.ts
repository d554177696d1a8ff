import { didYouMean } from '../base/nearest-name.ts'
import { UsageError } from './usage-error.ts'

/** Subcommands of similar programs, and Reeve's name for each. */
const ALIASES: Readonly<Record<string, string>> = {
  stop: 'kill',
  list: 'ps',
  ls: 'ps',
  sessions: 'session',
}

/** Subcommands of similar programs without a single counterpart, and the alternatives. */
const SUGGESTIONS: Readonly<Record<string, string>> = {
  start:
    'reeve run -d --name web -- npm run dev starts a command in the background; reeve restart web starts it again; reeve up starts the daemon.',
  exec: 'reeve run -- npm test runs a program; reeve attach web attaches to the terminal of a running one, and reeve send web types into it.',
  tail: 'reeve logs -n 20 web shows the last lines, and -f follows the output.',
  remove: 'reeve rm web removes an ended process; reeve rm -f web ends it first.',
  delete: 'reeve rm web removes an ended process; reeve rm -f web ends it first.',
  watch: 'reeve top shows live processes as they change; reeve logs -f web follows the output of a command.',
  pause: 'reeve signal web pause pauses a process, and reeve signal web resume resumes it.',
  resume: 'reeve signal web resume resumes a paused process.',
  untrack:
    'reeve call end pid=db status=completed replayKey=untracked ends the record of a tracked program, and sends the program nothing.',
  jobs: 'reeve ps lists live processes, and reeve ps -a the ended ones, too.',
  info: 'reeve show web describes a process; reeve status describes the daemon.',
  daemon: 'reeve up starts the daemon, reeve down stops it, and reeve status describes it.',
  inspect: 'reeve show web describes a process.',
}

/** The subcommand that a name stands for: itself, or the one it is an alias of. */
export function resolveAlias(name: string): string {
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name
}

export function unknownSubcommand(name: string, known: readonly string[]): UsageError {
  const suggestion = Object.hasOwn(SUGGESTIONS, name) ? SUGGESTIONS[name] : undefined
  if (suggestion !== undefined) return new UsageError(`Unknown subcommand: ${name}.`, suggestion)
  return new UsageError(
    `Unknown subcommand: ${name}.${didYouMean(name, known)}`,
    'Run reeve --help to list the subcommands.',
  )
}
