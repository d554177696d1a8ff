import { whoIs } from '../os/identity.ts'
import { announcedDaemon, type RunningDaemon } from './announced-daemon.ts'
import type { HomePaths } from './paths.ts'

/** The daemon that is ready in a home, if it is alive. */
export function readyDaemon(home: HomePaths): RunningDaemon | null {
  const present = presentDaemon(home)
  return present?.stopping === true ? null : present
}

/** The daemon that is ready or stopping. A daemon that was killed has left its announcement behind, and is not present. */
export function presentDaemon(home: HomePaths): RunningDaemon | null {
  const announced = announcedDaemon(home)
  return announced !== null && isAlive(announced) ? announced : null
}

export function isAlive({ osPid, startTime, bootId }: RunningDaemon): boolean {
  return whoIs({ osPid, startTime, boot: bootId }) === 'ours'
}
