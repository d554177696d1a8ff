import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Runs a program with this Node. `import 'reeve'` resolves to the sources of this clone. */
export function runNode(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(process.execPath, ['--conditions=reeve-source', ...args], options)
}

export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(program, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}
