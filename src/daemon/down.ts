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

/** Stops the daemon of a home, and resolves with its identity when it is gone. */
export async function down(options: DownOptions = {}): Promise<RunningDaemon> {
  const { keep = false, timeoutMs = TIMEOUT_MS } = options
  const home = homePaths(options.home ?? homeFolder())
  // The files of the home decide which OS process is signalled, so another user's home is refused.
  refuseForeignFolder(home.folder)
  // The start time is compared just before the signal: another program may have the PID of a killed daemon.
  const running = presentDaemon(home) ?? (await startingDaemon(home))
  if (running === null) {
    throw new ReeveError(
      'daemon_not_running',
      `No daemon runs in ${home.folder}.`,
      'There is nothing to stop; reeve up starts one.',
      { details: { home: home.folder } },
    )
  }
  // A second signal would stop it at once, without waiting for commands.
  if (running.stopping !== true) askToStop(running, keep ? 'SIGUSR2' : 'SIGTERM')
  const until = Date.now() + timeoutMs
  while (isAlive(running)) {
    if (Date.now() > until) throw notStopped(running, home.log, timeoutMs)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return running
}

/** A daemon that has just started answers on its socket before it announces itself in the home. */
async function startingDaemon(home: HomePaths): Promise<RunningDaemon | null> {
  if (!(await acceptsConnections(home.socket))) return null
  for (const until = Date.now() + BEGIN_MS; Date.now() < until; ) {
    const running = presentDaemon(home)
    if (running !== null) return running
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return null
}

async function acceptsConnections(path: string): Promise<boolean> {
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

/** Does nothing if the daemon is gone by now. */
function askToStop({ osPid, startTime, bootId }: RunningDaemon, signal: NodeJS.Signals): void {
  const result = signalVerified({ osPid, startTime, boot: bootId }, signal)
  if (result !== 'forbidden') return
  throw new ReeveError(
    'daemon_not_stopped',
    `This user may not signal the daemon with PID ${osPid}.`,
    'Run reeve down as the user who started the daemon.',
    { details: { osPid } },
  )
}

function notStopped({ osPid }: RunningDaemon, log: string, timeoutMs: number): ReeveError {
  return new ReeveError(
    'daemon_not_stopped',
    `The daemon with PID ${osPid} was asked to stop, but still runs after ${timeoutMs / 1_000} s.`,
    `Look at its log (${log}): it may be waiting for a command to end.`,
    { details: { osPid } },
  )
}
