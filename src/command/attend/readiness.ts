import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import type { ReadyBy } from '../../core/process/event.ts'
import type { ReadySpec } from '../../verbs/shapes/command-spec.ts'

/** How long a command may take to become ready that does not say. */
export const READY_TIMEOUT_MS = 60_000
/** One try takes no longer. */
const TRY_MS = 5_000

/** What is waited for, in words. */
export function detailOf(ready: ReadySpec): { readonly by: ReadyBy; readonly detail: string } {
  if ('log' in ready) return { by: 'log', detail: ready.log }
  if ('port' in ready) return { by: 'port', detail: String(ready.port) }
  if ('http' in ready) return { by: 'http', detail: ready.http }
  return { by: 'command', detail: ready.command }
}

/** Whether it answers now: a port that accepts, a URL that answers without an error of the server, a line that succeeds. */
export async function answered(
  ready: Exclude<ReadySpec, { log: string }>,
  { shell, cwd }: { readonly shell: string; readonly cwd: string | null },
  signal: AbortSignal,
): Promise<boolean> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)])
  if ('port' in ready)
    return (await accepts('127.0.0.1', ready.port, within)) || accepts('::1', ready.port, within)
  return 'http' in ready ? answers(ready.http, within) : succeeds(shell, ready.command, cwd, within)
}

function accepts(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, { signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.status < 500
  } catch {
    return false
  }
}

function succeeds(shell: string, line: string, cwd: string | null, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(shell, ['-c', line], {
      ...{ stdio: 'ignore', signal, killSignal: 'SIGKILL' },
      ...(cwd === null ? {} : { cwd }),
    })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
