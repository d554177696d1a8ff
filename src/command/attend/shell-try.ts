import { spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { killGroupOf } from '../../os/signal.ts'

/** The shell, folder and environment of the line: those of the command itself. */
export interface Surroundings {
  readonly shell: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Reports how the line ended, and waits to be killed together with all descendants of the line: until then the process group
 * is certainly ours. If the daemon dies, its end of the channel closes, and the group kills itself.
 */
const LEADER = '{ read -r _ <&3; kill -9 0; } & "$1" -c "$2" 3>&-; echo $? >&3; wait'

/**
 * Runs a shell line, without its output, until it ends or `signal` aborts: null on success, else a short reason. No process that
 * it started outlives it, as long as it stays in the line's process group.
 */
export function shellTry(
  line: string,
  { shell, cwd, env }: Surroundings,
  signal: AbortSignal,
): Promise<string | null> {
  if (signal.aborted) return Promise.resolve(OUT_OF_TIME)
  return new Promise((resolve) => {
    let code = ''
    const leader = spawn('/bin/sh', ['-c', LEADER, 'sh', shell, line], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    const channel = leader.stdio[3] as Duplex
    const end = () => void killGroupOf(leader)
    const finish = (why: string | null) => {
      signal.removeEventListener('abort', end)
      channel.destroy()
      resolve(why)
    }
    signal.addEventListener('abort', end)
    channel.on('error', end)
    channel.on('data', (bytes: Buffer) => {
      code += bytes.toString('latin1')
      if (code.endsWith('\n')) end()
    })
    leader.once('error', (error) => finish(error.message))
    leader.once('close', () =>
      finish(code === '' ? OUT_OF_TIME : code === '0\n' ? null : `exit code ${code.trim()}`),
    )
  })
}

const OUT_OF_TIME = 'it did not end in time'
