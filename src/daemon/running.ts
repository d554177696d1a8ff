import type { HomePaths, RunningDaemon } from '../client/home.ts'
import { whoIs } from '../os/identity.ts'
import { announcedDaemon } from './home.ts'

/** The daemon that is ready in a home, if it lives. */
export function readyDaemon(home: HomePaths): RunningDaemon | null {
  const present = presentDaemon(home)
  return present?.stopping === true ? null : present
}

/** One that is ready, or about to be gone. Whoever was killed has not taken its note away. */
export function presentDaemon(home: HomePaths): RunningDaemon | null {
  const noted = announcedDaemon(home)
  return noted !== null && isAlive(noted) ? noted : null
}

export function isAlive({ osPid, startTime, bootId }: RunningDaemon): boolean {
  return whoIs({ osPid, startTime, boot: bootId }) === 'ours'
}
