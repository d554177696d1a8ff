import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts `child.ts` with a build of Reeve; resolves when it is ready. */
export async function startChild(
  built: string,
  ...args: readonly (string | number)[]
): Promise<ChildProcess> {
  const file = fileURLToPath(import.meta.resolve('./child.ts'))
  const child = spawn(process.execPath, [file, built, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code, signal]) => {
      throw new Error(`The child ${args[0]} ended with ${code ?? signal} before it was ready.`)
    }),
  ])
  return child
}

/** With SIGKILL: no handler runs, and no lock is released in order. */
export async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
