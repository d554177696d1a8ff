import { once } from 'node:events'
import { connect } from 'node:net'
import { ReeveError } from '../core/errors.ts'
import type { RunningDaemon } from '../home/announced-daemon.ts'
import { refuseForeignFolder } from '../home/ownership.ts'
import { type HomePaths, homeFolder, homePaths } from '../home/paths.ts'
import { isAlive, presentDaemon } from '../home/present-daemon.ts'
import { signalVerified } from '../os/signal.ts'

export interface DownOptions {
  readonly home?: string
  /** Leaves commands that live as long as the daemon to the keeper. */
  readonly keep?: boolean
  /** How long to wait for its end. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 60_000
const LOOK_MS = 20
const BEGIN_MS = 5_000

/** Stops the daemon of a home in order, and answers with which one it was when it is gone. */
export async function down(options: DownOptions = {}): Promise<RunningDaemon> {
  const { keep = false, timeoutMs = TIMEOUT_MS } = options
  const home = homePaths(options.home ?? homeFolder())
  // What its files say decides which OS process is signalled.
  refuseForeignFolder(home.folder)
  // Its start time is compared just before it is signalled: the PID of a daemon that was killed may be anybody's by now.
  const running = presentDaemon(home) ?? (await justBegun(home))
  if (running === null) {
    throw new ReeveError(
      'daemon_not_running',
      `No daemon runs in ${home.folder}.`,
      'There is nothing to stop; reeve up starts one.',
      { details: { home: home.folder } },
    )
  }
  // A second signal would not wait for anybody.
  if (running.stopping !== true) askToStop(running, keep ? 'SIGUSR2' : 'SIGTERM')
  const until = Date.now() + timeoutMs
  while (isAlive(running)) {
    if (Date.now() > until) throw notStopped(running, home.log, timeoutMs)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return running
}

/** It answers before its home says who it is. */
async function justBegun(home: HomePaths): Promise<RunningDaemon | null> {
  if (!(await isAnswered(home.socket))) return null
  for (const until = Date.now() + BEGIN_MS; Date.now() < until; ) {
    const running = presentDaemon(home)
    if (running !== null) return running
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return null
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** One that is gone by now needs no signal. */
function askToStop({ osPid, startTime, bootId }: RunningDaemon, signal: NodeJS.Signals): void {
  const result = signalVerified({ osPid, startTime, boot: bootId }, signal)
  if (result !== 'forbidden') return
  throw new ReeveError(
    'daemon_not_stopped',
    `The daemon with PID ${osPid} may not be signalled by this user.`,
    'Run reeve down as the user who started the daemon.',
    { details: { osPid } },
  )
}

function notStopped({ osPid }: RunningDaemon, log: string, timeoutMs: number): ReeveError {
  return new ReeveError(
    'daemon_not_stopped',
    `The daemon with PID ${osPid} was asked to stop, and still runs after ${timeoutMs / 1_000} s.`,
    `Look at its log (${log}): it may be waiting for a command to end.`,
    { details: { osPid } },
  )
}
