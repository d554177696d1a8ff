import { ReeveError } from '../../core/errors.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import { ALLOW } from '../allow.ts'
import { readCallerEnvironment } from '../caller-environment.ts'
import { cannotStartCode, replacementFailure } from '../check-program.ts'
import { commandRequest } from '../command-request.ts'
import { exitCodeOf, OWN_ERROR } from '../exit-code.ts'
import { runInTerminal } from '../foreground/in-terminal.ts'
import { isInForeground } from '../foreground/is-in-foreground.ts'

import { reportHeldBack } from '../foreground/report-held-back.ts'
import { runThroughPipes } from '../foreground/through-pipes.ts'
import type { Options } from '../options.ts'
import { statusText } from '../print/status.ts'
import { SECRET } from '../secret-options.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'
import { startFailure } from './show.ts'

const OPTIONS = {
  detach: {
    type: 'flag',
    short: 'd',
    about: 'in the background: the pid is all there is on standard output',
  },
  name: { type: 'text', value: 'name', about: 'a name, to be used where pids are' },
  replace: { type: 'flag', about: 'end the process that has this name first, if one runs' },
  'if-not-running': { type: 'flag', about: 'start nothing if a process that has this name runs' },
  shell: { type: 'text', short: 'c', value: 'line', about: 'a line for your shell, instead of a program' },
  cwd: { type: 'text', short: 'w', value: 'folder', about: 'where it runs; here unless it says otherwise' },
  env: {
    type: 'texts',
    short: 'e',
    value: 'NAME[=value]',
    about: 'a variable; without a value, the one of here',
  },
  'env-file': { type: 'texts', value: 'file', about: 'variables of a file, NAME=value in each line' },
  'inherit-env': {
    type: 'flag',
    about: 'in the background: with the whole environment, umask and limits of here',
  },
  'no-inherit-env': {
    type: 'flag',
    about: "with the daemon's environment and this PATH alone, also in the foreground",
  },
  'pass-env': {
    type: 'texts',
    value: 'NAME',
    about: 'a secret of this shell, or of the daemon, that it may see',
  },
  secret: SECRET,
  split: {
    type: 'flag',
    about: 'in the background: keeps standard output and error apart, for logs --stream',
  },
  pty: { type: 'flag', short: 't', about: 'with a terminal of its own, also in the background' },
  'no-pty': { type: 'flag', about: 'without a terminal, also at one' },
  stdin: { type: 'flag', short: 'i', about: 'in the background: with an input, for reeve send' },
  'no-stdin': { type: 'flag', about: 'without input: standard input is left alone' },
  timeout: { type: 'duration', about: 'how long it may run; then it is ended, exit code 124' },
  'idle-timeout': { type: 'duration', about: 'how long it may print nothing' },
  grace: { type: 'duration', about: 'how long it may take to end before it is forced' },
  watch: {
    type: 'texts',
    value: 'text',
    about: 'tell its session, or you, of lines with this text; /…/ is an RE2 pattern (reeve inbox)',
  },
  ready: {
    type: 'text',
    value: 'what',
    about: 'when it is ready: a URL, a port (:5173), /pattern/ of a line, or a line for the shell',
  },
  'ready-timeout': {
    type: 'duration',
    about: 'how long it may take to be ready; 60s unless it says otherwise',
  },
  notify: {
    type: 'text',
    value: 'when',
    choices: ['complete', 'failure', 'none'],
    about: 'tell its session, or you, of its end (reeve inbox); with -d complete, else none',
  },
  restart: {
    type: 'text',
    value: 'when',
    choices: ['never', 'failure', 'always'],
    about: 'start it again when it has ended by itself, as a new process of the same name',
  },
  'restart-limit': {
    type: 'number',
    value: 'count',
    about: 'how often in a row; 10 unless it says otherwise',
  },
  heartbeat: {
    type: 'duration',
    about: 'tell its session, or you, that it still prints, at most this often; 1m or more',
  },
  allow: ALLOW,
  lifetime: {
    type: 'text',
    value: 'scope',
    choices: ['daemon', 'session', 'parent', 'detached'],
    about: 'with what it ends; detached: with nothing',
  },
  session: { type: 'text', value: 'id', about: 'the session it belongs to' },
  parent: { type: 'text', value: 'process', about: 'the process it is a child of' },
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
In the foreground, output, input, window size, Ctrl-C and the exit code are the command's own. At a terminal it
gets one too; elsewhere standard input, output and error are passed on byte for byte. If the daemon dies the
command goes on, and so does this. Closing the window leaves the command running (reeve attach); without a
terminal, SIGINT, SIGTERM and SIGHUP are passed on.

Ctrl-Z pauses a program that leaves Ctrl-Z to the terminal, and this with it; fg resumes both. Programs that
read the key themselves get it (a shell stops its job; vi has nowhere to go back to, and stays).

The command starts in this folder. In the foreground it has the environment, umask and resource limits of here, as without
Reeve; -d has the daemon's login environment and this PATH, unless --inherit-env or the setting inheritEnv says otherwise. The
environment of here and what --env-file has are stored nowhere; only with --restart they are in a file that you alone can read,
until the command has ended for good. What -e gives is stored with the process.

Exit codes: the command's own, but 1 for a 0 beyond a limit; 128 + n if a signal ended it; 124 if its time was up;
125 if Reeve failed; 126 if it cannot be run; 127 if it is not there.`,
  examples: [
    ['reeve run -- npm test', 'in the foreground'],
    ['reeve run -d --name web -- npm run dev', 'in the background, under a name'],
    ['reeve run -d --session s1 --ready :5173 --watch ERROR -- npm run dev', 'tells s1 (reeve inbox s1)'],
    ["reeve run -c 'make 2>&1 | tee log'", 'a line for the shell'],
    ['reeve run -e CI=1 --timeout 5m make', 'with a variable and a limit'],
    ['reeve run -d --name db --if-not-running -- postgres', 'one at most'],
  ],
  async run(context) {
    const { options, print, around, args } = context
    if ((options.shell === undefined) === (args.length === 0))
      throw new UsageError(
        args.length === 0 ? 'reeve run needs a command.' : 'A line for the shell takes no program besides.',
        'For example: reeve run -- npm test',
      )
    refuseNameless(options)
    const { stdin, stdout, stderr } = around
    const areTerminals = stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true
    // Whoever sends one of the streams elsewhere wants them apart, and a job in the background has no terminal.
    const atTerminal = areTerminals && isInForeground()
    const pty = options['no-pty'] ? false : options.pty || (atTerminal && !options.detach)
    const reeve = await context.acting()
    const hasInput = options.detach ? options.stdin : !options['no-stdin'] && (atTerminal || !isJobAt(stdin))
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
      print.aside(`${record.name} runs already, as ${record.pid}: nothing was started.`)
      if (print.isJson) print.json(record)
      else if (options.detach) print.line(record.pid)
      return 0
    }
    const failure = startFailure(record)
    if (failure !== undefined) {
      print.failure(
        isLine(args) ? { ...failure, remedy: `A line is for the shell: reeve run -c '${args[0]}'` } : failure,
      )
      return cannotStartCode(request)
    }
    if (warning !== undefined && (around.stderr.isTTY || isUrgent(warning, options)))
      print.aside(warned(warning, record))
    if (options.detach) {
      if (around.stderr.isTTY) {
        if (record.owner.session === undefined && record.parent === null && options.notify !== 'none')
          print.aside(
            `reeve inbox tells ${options.notify === 'failure' ? 'if it fails' : 'when it has ended'}.`,
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
        throw lostSightOf(record.pid, error)
      })
      .finally(stopTelling)
    if (ended === null) return OWN_ERROR
    if (ended.outcome?.status === 'abandoned')
      print.failure({
        message: `It was ${statusText(ended)}: nobody saw how it ended.`,
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

/** A whole line in quotes, as `docker run` and others do not take it either. */
function isLine(args: readonly string[]): boolean {
  return args.length === 1 && /\s/.test(args[0] ?? '')
}

/** To read from the terminal would stop a job in the background, also where its program would never read. */
function isJobAt(stdin: { readonly isTTY?: boolean }): boolean {
  return stdin.isTTY === true && !isInForeground()
}

/** It may run on, or have ended with its daemon: to start it again is not what helps. */
function lostSightOf(pid: string, error: unknown): unknown {
  if (!(error instanceof ReeveError) || error.code !== 'daemon_unreachable') return error
  const message = `${error.message} What became of ${pid} was not heard.`
  return new ReeveError(error.code, message, `reeve show ${pid} tells, and starts a daemon if none runs.`, {
    details: { ...error.details, pid },
  })
}

/** A shell stops its loop, and begins a new line, only where it sees that Ctrl-C ended the program. */
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
      return `${warning.pid} has the name ${name}, too, and goes on: while ${pid} lives, ${name} means ${pid}.`
    case 'unknown_variables':
      return `${warning.names.join(', ')} of --pass-env is set neither here nor in the daemon's environment: the command does not get it.`
  }
}
