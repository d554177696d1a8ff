import type { IPty } from '@lydell/node-pty'
import { forkFailure } from './fork-child.ts'
import { commandOf, type ExitHeard, type Forked, type ForkRequest } from './forked.ts'
import { PtyInput } from './pty-input.ts'
import { signalName } from './signal-names.ts'

/** What the PTY library offers. It is loaded with the first program that needs it. */
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
): Forked & { readonly pty: IPty } {
  const pty = spawnPty(library, request, size)
  // The library waits until all data has been heard of.
  pty.onExit(({ exitCode, signal }) => {
    const wasSignalled = signal !== undefined && signal !== 0
    exited(wasSignalled ? null : exitCode, wasSignalled ? signalName(signal) : null)
  })
  const input = new PtyInput(pty)
  const { stdin } = request.plan
  if (typeof stdin === 'object') {
    input.write(Buffer.from(stdin.text))
    // In the middle of a line, the first only hands over what there is of it.
    const last = stdin.text.at(-1)
    if (last !== undefined && !['\n', '\r', '\u0004'].includes(last)) input.end()
    input.end()
  }
  return {
    ...{ pty, osPid: pty.pid, input },
    resize: (cols, rows) => pty.resize(cols, rows),
    kill: () => pty.kill('SIGKILL'),
  }
}

function spawnPty(library: PtyLibrary, request: ForkRequest, size: { cols: number; rows: number }): IPty {
  const { file, args } = commandOf(request)
  const { plan, env } = request
  try {
    // The library would overwrite the variable of a command that names another kind of terminal.
    const name = env['TERM'] ?? 'xterm-256color'
    return library.spawn(file, args, { ...size, name, cwd: plan.cwd, env, encoding: null })
  } catch (error) {
    throw forkFailure(error, request)
  }
}
