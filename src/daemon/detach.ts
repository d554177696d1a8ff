import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, readFileSync, statfsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, ReeveError } from '../core/errors.ts'
import type { RunningDaemon } from '../home/announced-daemon.ts'
import { type HomePaths, homeFolder, homePaths } from '../home/paths.ts'
import { prepareHome } from '../home/prepare.ts'
import { presentDaemon, readyDaemon } from '../home/present-daemon.ts'
import { moveOutOfLeaf } from '../keeper/protocol/move-out-of-leaf.ts'
import { ownProgram } from '../package/own-files.ts'
import { daemonEnvironment } from './base-environment.ts'
import { openLog } from './log.ts'

export interface DetachOptions {
  readonly home?: string
  /** The arguments behind `up` on its command line. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  /** How long the daemon may take to be ready. */
  readonly timeoutMs?: number
  /** The program that has the subcommand `up`. */
  readonly program?: string
}

const TIMEOUT_MS = 20_000
const STOP_MS = 60_000
const LOOK_MS = 10
/** How long a daemon of another starter may take to be ready before this program starts one again: that daemon may be killed. */
const RETRY_MS = 2_000
/** How many daemons in a row may be killed before they are ready. */
const MAX_KILLED = 20
const MAX_LAST_LINES = 3
/** With less free than this, a disk counts as full. */
const FULL_BYTES = 64 * 1024
/** A daemon is idle most of the time, and its garbage is short-lived: a small young generation saves 15 MB at no measurable cost. */
const SMALL_YOUNG_SPACE = '--max-semi-space-size=2'

/**
 * Starts a daemon in the background, in an OS session of its own, and resolves when it is ready. If another starter was faster, its
 * daemon is used. A daemon that ends before it is ready has logged the reason, which is thrown here.
 */
export async function detach(options: DetachOptions = {}): Promise<RunningDaemon> {
  const env = options.env ?? process.env
  const home = homePaths(options.home ?? homeFolder(env))
  prepareHome(home)
  await waitForStop(home)
  const there = readyDaemon(home)
  if (there !== null) return there
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  let { child, logFrom, startedAt } = start(home, env, options)
  let until = startedAt + timeoutMs
  for (let killed = 0; ; ) {
    const daemon = readyDaemon(home)
    if (daemon !== null) {
      // A late daemon must not start when this one is stopped.
      if (daemon.osPid !== child.pid) child.kill('SIGKILL')
      return daemon
    }
    if (hasEnded(child)) {
      const why = lastError(home.log, logFrom)
      const isKilled = child.signalCode === 'SIGKILL' && ++killed <= MAX_KILLED
      // The daemon of another starter was faster, and is about to be ready.
      const isSecond = why?.code === 'daemon_already_running'
      if (!isKilled && !isSecond) throw why ?? silent(home, child)
      if (isKilled || Date.now() > startedAt + RETRY_MS)
        ({ child, logFrom, startedAt } = start(home, env, options))
      if (isKilled) until = startedAt + timeoutMs
    }
    if (Date.now() > until) throw hasEnded(child) ? silent(home, child) : tooSlow(home, child)
    await sleep(LOOK_MS)
  }
}

/** Waits for a daemon that is stopping: it may take a while to end its commands, and blocks the next one until then. */
async function waitForStop(home: HomePaths): Promise<void> {
  const until = Date.now() + STOP_MS
  for (let there = presentDaemon(home); there?.stopping === true; there = presentDaemon(home)) {
    if (Date.now() > until) throw stillStopping(there)
    await sleep(LOOK_MS)
  }
}

interface Starting {
  readonly child: ChildProcess
  /** Where in the log its own lines begin. */
  readonly logFrom: number
  readonly startedAt: number
}

function start(
  home: HomePaths,
  env: Readonly<Record<string, string | undefined>>,
  { args = [], program = ownProgram('main') }: DetachOptions,
): Starting {
  const log = openLog(home)
  const logFrom = fstatSync(log).size
  // A daemon that a command starts must not belong to that command: daemonEnvironment removes the marker, and moveOutOfLeaf moves it
  // out of the cgroup.
  try {
    const child = spawn(process.execPath, [...process.execArgv, SMALL_YOUNG_SPACE, program, 'up', ...args], {
      cwd: home.folder,
      detached: true,
      env: { ...daemonEnvironment(env), REEVE_HOME: home.folder },
      stdio: ['ignore', log, log],
    })
    child.on('error', () => undefined)
    if (child.pid !== undefined) moveOutOfLeaf(child.pid)
    child.unref()
    return { child, logFrom, startedAt: Date.now() }
  } finally {
    closeSync(log)
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** The last error with a code in the log, or its last lines. */
function lastError(path: string, from: number): ReeveError | undefined {
  const lines = logFromOffset(path, from).trim().split('\n')
  for (const line of lines.toReversed()) {
    const { code, message, remedy, details } = jsonIn(line)
    if (typeof code === 'string' && typeof message === 'string' && typeof remedy === 'string')
      return new ReeveError(code as ErrorCode, message, remedy, { details: Object(details) })
  }
  const last = lines.slice(-MAX_LAST_LINES).join(' ')
  if (last === '') return undefined
  return new ReeveError(
    'daemon_not_started',
    `The daemon ended before it was ready. Its last output: ${last}`,
    `Its log is ${path}.`,
    { details: { log: path } },
  )
}

function logFromOffset(path: string, from: number): string {
  try {
    return readFileSync(path).subarray(from).toString('utf8')
  } catch {
    // The log was removed, alone or with the home.
    return ''
  }
}

function jsonIn(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function silent({ log, folder }: HomePaths, { exitCode, signalCode }: ChildProcess): ReeveError {
  if (!existsSync(folder))
    return new ReeveError(
      'daemon_not_started',
      `The daemon ended before it was ready: its home ${folder} was moved or removed meanwhile.`,
      'Try again: a missing home is created.',
      { details: { log } },
    )
  if (isFull(folder))
    return new ReeveError(
      'daemon_not_started',
      `The daemon ended before it was ready: the disk of ${folder} is full, so it could not log the reason.`,
      'Free some space and try again.',
      { details: { log } },
    )
  const how = signalCode ?? (exitCode === null ? 'it could not be started' : `exit code ${exitCode}`)
  return new ReeveError(
    'daemon_not_started',
    `The daemon ended before it was ready (${how}), without any output.`,
    `Start it in the foreground to see more: reeve up. Its log is ${log}.`,
    { details: { log } },
  )
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < FULL_BYTES
  } catch {
    return false
  }
}

function stillStopping({ osPid }: RunningDaemon): ReeveError {
  return new ReeveError(
    'daemon_not_started',
    `The daemon with PID ${osPid} is still stopping: it waits for commands to end.`,
    'Try again in a moment; reeve down waits until it is gone.',
    { details: { osPid } },
  )
}

function tooSlow({ log }: HomePaths, { pid }: ChildProcess): ReeveError {
  return new ReeveError(
    'daemon_not_started',
    `The daemon with PID ${pid} was started, but is not ready yet.`,
    `Wait a little longer (reeve status), or look at its log: ${log}.`,
    { details: { osPid: pid, log } },
  )
}
