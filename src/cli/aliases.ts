import { didYouMean } from './nearest.ts'
import { UsageError } from './usage-error.ts'

/** Words of similar programs that mean the same as one of Reeve's. */
const ALIASES: Readonly<Record<string, string>> = { stop: 'kill', list: 'ps', ls: 'ps' }

/** Words of similar programs that have no single counterpart: what to type instead. */
const SUGGESTIONS: Readonly<Record<string, string>> = {
  start:
    'reeve run -d --name web -- npm run dev starts a command in the background; reeve restart web starts it once more; reeve up starts the daemon.',
  exec: 'reeve run -- npm test runs a program; reeve attach web goes to the terminal of one that runs, and reeve send web types into it.',
  tail: 'reeve logs -n 20 web shows the last lines, and -f goes on with what comes.',
  remove: 'reeve rm web removes an ended process; reeve rm -f web ends it first.',
  delete: 'reeve rm web removes an ended process; reeve rm -f web ends it first.',
  watch: 'reeve top shows what runs as it changes; reeve logs -f web follows what a command prints.',
  pause: 'reeve signal web pause stops it where it is, and reeve signal web resume lets it go on.',
  resume: 'reeve signal web resume lets a paused process go on.',
  untrack:
    'reeve call end pid=db status=completed replayKey=untracked ends the record of a tracked program, and sends it nothing.',
  jobs: 'reeve ps lists what runs, and reeve ps -a what has ended, too.',
  info: 'reeve show web tells all about a process; reeve status about the daemon.',
  daemon: 'reeve up starts the daemon, reeve down stops it, and reeve status says how it is.',
  inspect: 'reeve show web tells all about a process.',
}

/** The word that is meant by a name: itself, or the one it is an alias of. */
export function resolveAlias(name: string): string {
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name
}

export function unknownSubcommand(name: string, known: readonly string[]): UsageError {
  const suggestion = Object.hasOwn(SUGGESTIONS, name) ? SUGGESTIONS[name] : undefined
  if (suggestion !== undefined) return new UsageError(`reeve does not know the word ${name}.`, suggestion)
  return new UsageError(
    `reeve does not know the word ${name}.${didYouMean(name, known)}`,
    'Run reeve --help for the words it knows.',
  )
}
