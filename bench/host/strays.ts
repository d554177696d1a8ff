import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isAlive } from './proc.ts'

/** In the environment of everything that a run starts. */
export const MARK = 'REEVE_BENCH_RUN'

/** Ends what a run has left: keepers and programs, which are made to outlive those who started them. */
export function endStrays(run: string): void {
  for (const osPid of strays(run)) send(osPid, 'SIGKILL')
}

/** The same, after those that have something to tidy up, as a keeper has, were given the time to do so. */
export async function dismissStrays(run: string): Promise<void> {
  for (const osPid of strays(run)) send(osPid, 'SIGTERM')
  const deadline = Date.now() + 3_000
  while (strays(run).length > 0 && Date.now() < deadline) await pause(20)
  endStrays(run)
}

function send(osPid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(osPid, signal)
  } catch (error) {
    // It was just ending by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function strays(run: string): number[] {
  const mark = `${MARK}=${run}`
  return readdirSync('/proc')
    .map(Number)
    .filter(
      (osPid) => osPid > 1 && osPid !== process.pid && isAlive(osPid) && environmentOf(osPid).includes(mark),
    )
}

function environmentOf(osPid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${osPid}/environ`, 'utf8').split('\0')
  } catch {
    // Somebody else's, or gone: in no case ours.
    return []
  }
}
