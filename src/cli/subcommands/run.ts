import { ReeveError } from '../../core/errors.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import { ALLOW } from '../allow.ts'
import { readCallerEnvironment } from '../caller-environment.ts'
import { cannotStartCode, replacementFailure } from '../check-program.ts'
import { commandRequest } from '../command-request.ts'
import { exitCodeOf, OWN_ERROR } from '../exit-code.ts'
import { runInTerminal } from '../foreground/in-terminal.ts'
import { reportHeldBack } from '../foreground/report-held-back.ts'
import { isInForeground, passesInput } from '../foreground/standard-input.ts'
import { runThroughPipes } from '../foreground/through-pipes.ts'
import type { Options } from '../options.ts'
import { startFailure, statusText } from '../print/status.ts'
import { SECRET } from '../secret-options.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  detach: {
    type: 'flag',
    short: 'd',
    about: 'run in the background, and print only the pid',
  },
  name: { type: 'text', value: 'name', about: 'a name, which can be used instead of the pid' },
  replace: { type: 'flag', about: 'first end the live process of this name, if there is one' },
  'if-not-running': { type: 'flag', about: 'start nothing if a process of this name is live' },
  shell: { type: 'text', short: 'c', value: 'line', about: 'a line for your shell, instead of a program' },
  cwd: { type: 'text', short: 'w', value: 'folder', about: 'the working folder; by default this one' },
  env: {
    type: 'texts',
    short: 'e',
    value: 'NAME[=value]',
    about: 'a variable; without a value, that of this shell',
  },
  'env-file': { type: 'texts', value: 'file', about: 'a file of variables, NAME=value in each line' },
  'inherit-env': {
    type: 'flag',
    about: 'with -d: pass the whole environment, umask and resource limits of this shell',
  },
  'no-inherit-env': {
    type: 'flag',
    about: "use only the daemon's environment and this PATH, also in the foreground",
  },
  'pass-env': {
    type: 'texts',
    value: 'NAME',
    about: 'pass this secret variable of this shell, or of the daemon',
  },
  secret: SECRET,
  split: {
    type: 'flag',
    about: 'with -d: keep standard output and error apart, for logs --stream',
  },
  pty: { type: 'flag', short: 't', about: 'give it a terminal, also in the background' },
  'no-pty': { type: 'flag', about: 'give it no terminal, even at one' },
  stdin: { type: 'flag', short: 'i', about: 'with -d: give it an input, for reeve send' },
  'no-stdin': { type: 'flag', about: 'give it no input, and leave standard input unread' },
  timeout: { type: 'duration', about: 'how long it may run; then it is ended, with exit code 124' },
  'idle-timeout': { type: 'duration', about: 'how long it may print nothing' },
  grace: { type: 'duration', about: 'how long it may take to end before it is forced' },
  watch: {
    type: 'texts',
    value: 'text',
    about: 'notify its session, or you, of lines with this text; /…/ is an RE2 pattern (reeve inbox)',
  },
  ready: {
    type: 'text',
    value: 'check',
    about: 'readiness check: a URL, a port (:5173), a /pattern/ of an output line, or a shell line',
  },
  'ready-timeout': {
    type: 'duration',
    about: 'how long it may take to be ready; by default 60s',
  },
  notify: {
    type: 'text',
    value: 'when',
    choices: ['complete', 'failure', 'none'],
    about: 'notify its session, or you, of its end (reeve inbox); by default complete with -d, else none',
  },
  restart: {
    type: 'text',
    value: 'when',
    choices: ['never', 'failure', 'always'],
    about: 'start it again after it ended by itself, as a new process of the same name',
  },
  'restart-limit': {
    type: 'number',
    value: 'count',
    about: 'how many restarts in a row; by default 10',
  },
  heartbeat: {
    type: 'duration',
    about: 'notify its session, or you, that it still prints, at most this often; 1m or more',
  },
  allow: ALLOW,
  lifetime: {
    type: 'text',
    value: 'scope',
    choices: ['daemon', 'session', 'parent', 'detached'],
    about: 'it ends when this ends; detached: never',
  },
  session: { type: 'text', value: 'id', about: 'the session that owns it' },
  parent: { type: 'text', value: 'process', about: 'its parent process' },
} as const

export type RunOptions = Options<typeof OPTIONS>

export const run = subcommand({
  name: 'run',
  summary: 'Runs a command: in the foreground as without Reeve, or with -d in the background',
  usage: ['run [options] [--] <program> [argument]…', "run [options] -c '<line>'"],
  completes: 'command',
  failure: OWN_ERROR,
  stopEarly: true,
  options: OPTIONS,
  fields: {
    name: 'name',
    cwd: 'cwd',
    allowance: 'allow',
    'owner.session': 'session',
    envRef: 'secret',
    'spec.env': 'env',
    'spec.passEnv': 'pass-env',
    'spec.timeoutMs': 'timeout',
    'spec.idleTimeoutMs': 'idle-timeout',
    'spec.graceMs': 'grace',
    'spec.watch': 'watch',
    'spec.ready': 'ready',
    'spec.ready.timeoutMs': 'ready-timeout',
    'spec.heartbeatMs': 'heartbeat',
    'spec.restart.limit': 'restart-limit',
  },
  about: `
In the foreground the command behaves as without Reeve: output, input, window size, Ctrl-C and exit code are its own. At a terminal
it gets a terminal; elsewhere standard input, output and error are passed through byte for byte. If the daemon dies, the command
and this program go on. Closing the window leaves the command running (reeve attach); without a terminal, SIGINT, SIGTERM and
SIGHUP are passed on to it.

Ctrl-Z pauses a program that leaves Ctrl-Z to the terminal, and this program with it; fg resumes both. A program that reads the key
itself gets it (a shell stops its job; vi has no shell to return to, and stays).

The command starts in this folder. In the foreground it gets the environment, umask and resource limits of this shell. With -d it
gets the daemon's login environment and this PATH, unless you give --inherit-env or the setting inheritEnv. The environment of this
shell and the variables of --env-file are stored nowhere; only with --restart they are kept in a file that you alone can read, until
the command has ended for good. Variables of -e are stored with the process.

Exit codes: that of the command, but 1 instead of 0 if it exceeded a limit; 128 + n if a signal ended it; 124 if its time was up;
125 if Reeve failed; 126 if the program cannot be run; 127 if it was not found.`,
  examples: [
    ['reeve run -- npm test', 'in the foreground'],
    ['reeve run -d --name web -- npm run dev', 'in the background, under a name'],
    ['reeve run -d --session s1 --ready :5173 --watch ERROR -- npm run dev', 'notifies s1 (reeve inbox s1)'],
    ["reeve run -c 'make 2>&1 | tee log'", 'a line for the shell'],
    ['reeve run -e CI=1 --timeout 5m make', 'with a variable and a time limit'],
    ['reeve run -d --name db --if-not-running -- postgres', 'at most one'],
  ],
  async run(context) {
    const { options, print, around, args } = context
    if ((options.shell === undefined) === (args.length === 0))
      throw new UsageError(
        args.length === 0 ? 'reeve run needs a command.' : 'Give either -c <line> or a program, not both.',
        'For example: reeve run -- npm test',
      )
    refuseNameless(options)
    const { stdin, stdout, stderr } = around
    const areTerminals = stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true
    // A redirected stream must stay apart from the others, and a background job must not use the terminal.
    const atTerminal = areTerminals && isInForeground()
    const pty = options['no-pty'] ? false : options.pty || (atTerminal && !options.detach)
    const reeve = await context.acting()
    const hasInput = options.detach
      ? options.stdin
      : !options['no-stdin'] && (atTerminal || passesInput(stdin))
    const request = await commandRequest(context, reeve, {
      pty,
      hasInput,
      given: await readCallerEnvironment(context),
    })
    const refused = options.replace ? replacementFailure(context, request) : null
    if (refused !== null) {
      print.failure(refused)
      return refused.exitCode
    }
    const { type, record, warning } = await reeve.spawn(request)
    if (type === 'running') {
      print.aside(`${record.name} is already running as ${record.pid}: nothing was started.`)
      if (print.isJson) print.json(record)
      else if (options.detach) print.line(record.pid)
      return 0
    }
    const failure = startFailure(record)
    if (failure !== undefined) {
      print.failure(
        isLine(args) ? { ...failure, remedy: `To run a shell line, use reeve run -c '${args[0]}'` } : failure,
      )
      return cannotStartCode(request)
    }
    if (warning !== undefined && (around.stderr.isTTY || isUrgent(warning, options)))
      print.aside(warned(warning, record))
    if (options.detach) {
      if (around.stderr.isTTY) {
        if (record.owner.session === undefined && record.parent === null && options.notify !== 'none')
          print.aside(
            `reeve inbox will show ${options.notify === 'failure' ? 'whether it failed' : 'its end'}.`,
          )
      }
      if (print.isJson) print.json(record)
      else print.line(record.pid)
      return 0
    }
    const stopTelling = reportHeldBack(context, reeve, record.pid)
    const ended = await (pty && atTerminal
      ? runInTerminal(context, reeve, record)
      : runThroughPipes(context, reeve, record, hasInput)
    )
      .catch((error: unknown) => {
        throw withPid(record.pid, error)
      })
      .finally(stopTelling)
    if (ended === null) return OWN_ERROR
    if (ended.outcome?.status === 'abandoned')
      print.failure({
        message: `It was ${statusText(ended)}: its end was not observed.`,
        remedy: `reeve show ${ended.pid}`,
      })
    if (ended.outcome?.reason?.startsWith('limit:') === true)
      print.failure({ message: `It was ${statusText(ended)}.`, remedy: `reeve show ${ended.pid}` })
    if (pty && atTerminal && ended.outcome?.signal === 'SIGINT') dieOfInterrupt()
    return exitCodeOf(ended)
  },
})

function refuseNameless({ name, replace, 'if-not-running': ifNotRunning }: RunOptions): void {
  if (replace && ifNotRunning)
    throw new UsageError('--replace and --if-not-running exclude each other.', 'Give one of them.')
  if (name === undefined && (replace || ifNotRunning))
    throw new UsageError(
      `${replace ? '--replace' : '--if-not-running'} needs a name.`,
      'Give the process one with --name.',
    )
}

/** A whole shell line in quotes, given as the program. */
function isLine(args: readonly string[]): boolean {
  return args.length === 1 && /\s/.test(args[0] ?? '')
}

/** When the connection is lost, the command may run on or have ended: the user should look, and not start it again. */
function withPid(pid: string, error: unknown): unknown {
  if (!(error instanceof ReeveError) || error.code !== 'daemon_unreachable') return error
  const message = `${error.message} The state of ${pid} is unknown.`
  const remedy = `reeve show ${pid} shows it, and starts a daemon if none runs.`
  return new ReeveError(error.code, message, remedy, { details: { ...error.details, pid } })
}

/** A shell stops its loop, and begins a new line, only if it sees that SIGINT ended the program. */
function dieOfInterrupt(): void {
  process.once('exit', () => {
    process.removeAllListeners('SIGINT')
    process.kill(process.pid, 'SIGINT')
  })
}

type Warning = NonNullable<OutputOf<'spawn'>['warning']>

/** Scripts are warned too: of a name that means another process from now on, and of a secret that the command does not get. */
function isUrgent({ code }: Warning, { detach }: RunOptions): boolean {
  return (code === 'name_in_use' && detach) || code === 'unknown_variables'
}

function warned(warning: Warning, { name, pid }: OutputOf<'spawn'>['record']): string {
  switch (warning.code) {
    case 'duplicate_of':
      return `The same command was started a moment ago, as ${warning.pid}.`
    case 'name_in_use':
      return `${warning.pid} has the name ${name}, too, and goes on running: while ${pid} lives, ${name} means ${pid}.`
    case 'unknown_variables':
      return `${warning.names.join(', ')} of --pass-env is set neither here nor in the daemon's environment: the command does not get it.`
  }
}
