import type { IPty } from '@lydell/node-pty'
import { forkFailure } from './fork-with-fifos.ts'
import { commandOf, type Forked, type ForkedEvents, type ForkRequest } from './forked.ts'
import { PtyInput } from './pty-input.ts'
import { PtyOutput } from './pty-output.ts'
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
  events: ForkedEvents,
): Forked {
  const pty = spawnPty(library, request, size)
  const output = new PtyOutput(pty)
  pty.onData((data) => {
    // Without an encoding it gives bytes, whatever its types say.
    const chunk = data as unknown as Buffer
    if (!events.bytes(chunk, null)) output.hold()
  })
  pty.onExit(({ exitCode, signal }) => {
    output.close()
    const wasSignalled = signal !== undefined && signal !== 0
    events.exited(wasSignalled ? null : exitCode, wasSignalled ? signalName(signal) : null)
  })
  return { osPid: pty.pid, output, input: new PtyInput(pty), resize: (cols, rows) => pty.resize(cols, rows) }
}

function spawnPty(library: PtyLibrary, request: ForkRequest, size: { cols: number; rows: number }): IPty {
  const { file, args } = commandOf(request)
  const { plan, env } = request
  try {
    return library.spawn(file, args, { ...size, name: 'xterm-256color', cwd: plan.cwd, env, encoding: null })
  } catch (error) {
    throw forkFailure(error, request)
  }
}
