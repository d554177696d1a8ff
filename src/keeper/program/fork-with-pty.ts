import { closeSync, constants, openSync } from 'node:fs'
import type { IPty } from '@lydell/node-pty'
import { isPidInUse } from '../../os/identity.ts'
import type { BytePty } from './byte-pty.ts'
import { withUmask } from './caller-limits.ts'
import { commandOf, type ExitHeard, type Forked, type ForkRequest, forkFailure } from './fork-child.ts'
import { PtyInput } from './pty-input.ts'
import { signalName } from './signal-names.ts'

/** The PTY library. It is loaded with the first program that needs it. */
export type PtyLibrary = Pick<typeof import('@lydell/node-pty'), 'spawn'>

export async function loadPtyLibrary(): Promise<PtyLibrary> {
  return (await import('@lydell/node-pty')).default
}

/** Starts a program in a terminal of its own. */
export function forkWithPty(
  library: PtyLibrary,
  request: ForkRequest,
  size: { readonly cols: number; readonly rows: number },
  exited: ExitHeard,
): Forked & { readonly pty: BytePty } {
  const pty = spawnPty(library, request, size)
  const letGo = holdOpen(pty)
  // The library waits until all data is delivered.
  pty.onExit(({ exitCode, signal }) => {
    letGo()
    const wasSignalled = signal !== undefined && signal !== 0
    exited(wasSignalled ? null : exitCode, wasSignalled ? signalName(signal) : null)
  })
  const input = new PtyInput(pty)
  const { stdin } = request.plan
  if (typeof stdin === 'object') {
    input.write(Buffer.from(stdin.text))
    // Within a line, the first Ctrl-D only passes the line on so far.
    const last = stdin.text.at(-1)
    if (last !== undefined && !['\n', '\r', '\u0004'].includes(last)) input.end()
    input.end()
  }
  return {
    pty,
    osPid: pty.pid,
    input,
    resize: (cols, rows) => pty.resize(cols, rows),
    kill: () => pty.kill('SIGKILL'),
  }
}

/**
 * Holds the program's end of the terminal while it lives. Many programs close theirs just before they end; the library then
 * closes the other end, and the system hangs up on a program that was about to exit: it would end by SIGHUP instead of its own
 * exit code. Once the program is dead this end is closed, and the library sees that all has been read.
 */
function holdOpen(pty: BytePty): () => void {
  const { _pty: path } = pty
  if (path === undefined) return () => {}
  let fd: number | null
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  } catch {
    // The program has ended already, and its exit event follows.
    return () => {}
  }
  const letGo = () => {
    held.delete(check)
    if (held.size === 0) process.off('SIGCHLD', checkAll)
    if (fd !== null) closeSync(fd)
    fd = null
  }
  const check = () => {
    if (!isPidInUse(pty.pid)) letGo()
  }
  if (held.size === 0) process.on('SIGCHLD', checkAll)
  held.add(check)
  check()
  return letGo
}

const held = new Set<() => void>()

function checkAll(): void {
  for (const check of [...held]) check()
}

function spawnPty(library: PtyLibrary, request: ForkRequest, size: { cols: number; rows: number }): BytePty {
  const { file, args } = commandOf(request)
  const { plan, env } = request
  try {
    // The library would overwrite the variable of a command that names another kind of terminal.
    const name = env['TERM'] ?? 'xterm-256color'
    const options = { ...size, name, cwd: plan.cwd, env, encoding: null }
    return withUmask(plan.umask, () => library.spawn(file, args, options) as IPty & BytePty)
  } catch (error) {
    throw forkFailure(error, request)
  }
}
