import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Figure } from '../figure.ts'
import type { Suite, SuiteOptions } from '../suite.ts'
import { isAlive } from './proc.ts'

/** A variable in the environment of everything that a run starts. */
const MARK = 'REEVE_BENCH_RUN'

/** A suite that starts OS processes. Processes that a run leaves behind are ended: after it, and when it is interrupted. */
export function suiteWithoutStrays(
  name: string,
  summary: string,
  measured: (options: SuiteOptions) => AsyncIterable<Figure>,
): Suite {
  return {
    summary,
    async *run(options) {
      if (process.platform !== 'linux') throw new Error(`The suite ${name} reads /proc, and so needs Linux.`)
      // Every process of this run inherits it, and so is found if the run is interrupted.
      process.env[MARK] = options.folder
      // Before the folder is removed, which fails while a process writes there.
      process.prependOnceListener('exit', () => endStrays(options.folder))
      try {
        yield* measured(options)
      } finally {
        await dismissStrays(options.folder)
      }
    },
  }
}

/** Ends leftovers of a run: keepers and programs, which outlive their starters by design. */
function endStrays(run: string): void {
  for (const osPid of strays(run)) send(osPid, 'SIGKILL')
}

/** The same, after processes that clean up, such as keepers, have had time to do so. */
async function dismissStrays(run: string): Promise<void> {
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
