import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { now } from '../clock.ts'

/** Until a program has ended, from its start. */
export async function timed(program: string, args: readonly string[], env = process.env): Promise<number> {
  const begun = now()
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code, signal] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code ?? signal}.`)
  return now() - begun
}

export const bareNode = () => timed(process.execPath, ['-e', '0'])

/** A program that prints one line when it is ready, and that line. */
export interface Bare {
  readonly osPid: number
  readonly said: string
  end(): Promise<void>
}

/** Node with nothing to do. */
export const idleNode = () => started(['-e', 'console.log("ready"); setInterval(() => {}, 2 ** 30)'])

/** Node's HTTP server in its own OS process; it prints its URL. */
export const bareServer = () => started([fileURLToPath(import.meta.resolve('./bare-server.ts'))])

async function started(args: readonly string[]): Promise<Bare> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = await Promise.race([once(child.stdout, 'data'), failed(child)])
  return {
    osPid: child.pid ?? 0,
    said: String(said).trim(),
    async end() {
      const ended = once(child, 'exit')
      if (child.kill('SIGKILL')) await ended
    },
  }
}

async function failed(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit')
  throw new Error(`A bare Node ended with ${code ?? signal}.`)
}
