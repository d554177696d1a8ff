import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isPidInUse } from '../os/identity.ts'
import { ownProgram } from '../package/own-files.ts'

export function startWorker(words: readonly string[], died: (said: string) => void): ChildProcess {
  const worker = spawn(process.execPath, [ownProgram('demo/worker'), ...words], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let said = ''
  worker.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  worker.on('exit', (_code, signal) => signal !== 'SIGKILL' && died(said))
  return worker
}

/** Dead and reaped when it resolves. */
export async function killHard(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const exit = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exit
}

const LOOK_MS = 5

/** For what no event tells of: looks until it holds, or until the demo is called off. */
export async function looking(holds: () => boolean, signal: AbortSignal): Promise<void> {
  while (!holds()) await pause(LOOK_MS, undefined, { signal })
}

/** Gone for the operating system, whatever Reeve says. */
export function isGone(osPid: number): boolean {
  return !isPidInUse(osPid)
}
