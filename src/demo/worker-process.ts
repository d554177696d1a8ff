import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isPidInUse } from '../os/identity.ts'
import { ownProgram } from '../package/own-files.ts'

/** `onDeath` is called with its error output if it ends by anything but SIGKILL. */
export function startWorker(args: readonly string[], onDeath: (stderr: string) => void): ChildProcess {
  const worker = spawn(process.execPath, [ownProgram('demo/worker'), ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let stderr = ''
  worker.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  worker.on('exit', (_code, signal) => signal !== 'SIGKILL' && onDeath(stderr))
  return worker
}

/** Resolves when the worker is dead and reaped. */
export async function killHard(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const exit = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exit
}

const POLL_MS = 5

/** Polls a condition that no event reports, until it holds or the demo is aborted. */
export async function pollUntil(holds: () => boolean, signal: AbortSignal): Promise<void> {
  while (!holds()) await pause(POLL_MS, undefined, { signal })
}

/** By the operating system, not by Reeve's record. */
export function isGone(osPid: number): boolean {
  return !isPidInUse(osPid)
}
