import { readFileSync, rmSync } from 'node:fs'
import type { HomePaths } from './paths.ts'
import { writeWholeFile } from './write-file.ts'

/** The content of `daemon.json`, which a daemon writes when it is ready and removes when it stops. */
export interface RunningDaemon {
  readonly osPid: number
  readonly startTime: string | null
  /** The boot that `startTime` counts from; empty where the machine has no boot id. */
  readonly bootId: string
  readonly url: string | null
  readonly version: string
  readonly startedAt: number
  /** Whether `reeve run -d` gives commands the environment of the shell; earlier versions leave it out. */
  readonly inheritEnv?: boolean
  /** It was asked to stop, and ends soon. */
  readonly stopping?: boolean
}

/** The daemon that `daemon.json` names. It may be dead: only its PID together with its start time tells. */
export function announcedDaemon({ daemon }: HomePaths): RunningDaemon | null {
  try {
    return JSON.parse(readFileSync(daemon, 'utf8')) as RunningDaemon
  } catch {
    // A missing or truncated file announces no daemon.
    return null
  }
}

export function announce({ daemon }: HomePaths, running: RunningDaemon): void {
  writeWholeFile(daemon, `${JSON.stringify(running, null, 2)}\n`)
}

/** Updates the announcement of this daemon. After a move of the home, its old path may hold that of another daemon. */
export function announceAgain(paths: HomePaths, running: RunningDaemon): void {
  if (isOwnAnnouncement(paths)) announce(paths, running)
}

/** Removes the announcement of this daemon. The next daemon may have written its own by now, which stays. */
export function withdraw(paths: HomePaths): void {
  if (isOwnAnnouncement(paths)) rmSync(paths.daemon, { force: true })
}

function isOwnAnnouncement(paths: HomePaths): boolean {
  return announcedDaemon(paths)?.osPid === process.pid
}
