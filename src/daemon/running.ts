import type { HomePaths, RunningDaemon } from '../client/home.ts'
import { runningDaemon } from './home.ts'
import { isAlive } from './os-process.ts'

/** The daemon that is ready in a home, if it lives: one that was killed has not taken its note away. */
export function readyDaemon(home: HomePaths): RunningDaemon | null {
  const running = runningDaemon(home)
  return running !== null && isAlive(running) ? running : null
}
