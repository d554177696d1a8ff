import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isAlive } from './proc.ts'

/** A variable in the environment of everything that a run starts. */
export const MARK = 'REEVE_BENCH_RUN'

/** Ends leftovers of a run: keepers and programs, which outlive their starters by design. */
export function endStrays(run: string): void {
  for (const osPid of strays(run)) send(osPid, 'SIGKILL')
}

/** The same, after processes that clean up, such as keepers, have had time to do so. */
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
    // It has just ended by itself.
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
    // Another user's, or gone.
    return []
  }
}
