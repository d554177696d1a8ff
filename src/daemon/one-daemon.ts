import { ReeveError } from '../core/errors.ts'
import type { HomePaths } from '../home/paths.ts'
import { presentDaemon } from '../home/present-daemon.ts'

/** The lock of the data folder is the real guard. This check saves opening the store, and names the home in the error. */
export function refuseSecond(home: HomePaths): void {
  const present = presentDaemon(home)
  if (present === null || present.osPid === process.pid) return
  throw present.stopping === true ? stillStopping(home, present.osPid) : alreadyRunning(home, present.osPid)
}

export function alreadyRunning(home: HomePaths, osPid: number | null): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `A daemon with PID ${osPid ?? 'unknown'} already runs in ${home.folder}.`,
    'Use it (reeve status), stop it (reeve down), or give this one a home of its own (REEVE_HOME).',
    { details: { osPid, home: home.folder } },
  )
}

function stillStopping(home: HomePaths, osPid: number): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `The daemon with PID ${osPid} in ${home.folder} is still stopping.`,
    'Try again when it is gone; reeve down waits for that.',
    { details: { osPid, home: home.folder } },
  )
}
