import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

export interface Ran {
  readonly code: number | null
  readonly printed: string
  readonly complained: string
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Runs a program with this Node, where `import 'reeve'` means the sources of this clone. */
export function runNode(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(process.execPath, ['--conditions=reeve-source', ...words], options)
}

export async function run(program: string, words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(program, words, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  let complained = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complained += chunk.toString()
  })
  const [code] = await once(child, 'close')
  return { code, printed, complained }
}
