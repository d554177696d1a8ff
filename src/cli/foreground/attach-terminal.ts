import { ReeveError } from '../../core/errors.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Terminal } from './terminal.ts'

/** Resets modes that a full-screen program may have left on: alternate screen, mouse, bracketed paste, hidden cursor, colours. */
export const RESET_TERMINAL =
  '\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?25h\u001b[0m\r\n'

export interface AttachTerminalOptions {
  /** The byte of the key that detaches. */
  readonly detachKey: number
  /** Keys and window size are not passed on. */
  readonly readOnly?: boolean
  /** How many bytes of earlier output are shown. */
  readonly scrollback?: number | undefined
}

/** Connects this terminal to that of a command, until the user detaches or the command ends. */
export async function attachTerminal(
  reeve: ReeveVerbs,
  pid: string,
  terminal: Terminal,
  { detachKey, readOnly = false, scrollback }: AttachTerminalOptions,
): Promise<'detached' | 'ended'> {
  const attachment = await reeve.attach({ pid, ...(scrollback === undefined ? {} : { scrollback }) })
  let isDetached = false
  let failure: unknown
  const onFailure = (error: unknown) => {
    if (isDetached || isTransient(error)) return
    failure ??= error
    attachment.detach()
  }
  const resize = async () => {
    if (!readOnly) await attachment.resize(terminal.size()).catch(onFailure)
  }
  const stopKeys = terminal.raw(async (keys) => {
    const at = keys.indexOf(detachKey)
    const typed = at === -1 ? keys : keys.subarray(0, at)
    // Not awaited: the detach key must work also while the daemon does not answer.
    if (typed.length > 0 && !readOnly) void attachment.write(typed).catch(onFailure)
    if (at === -1) return
    isDetached = true
    attachment.detach()
  })
  const stopSizes = terminal.onResize(() => void resize())
  try {
    await resize()
    for await (const { bytes } of attachment) await terminal.show(bytes)
  } finally {
    stopSizes()
    stopKeys()
    attachment.detach()
  }
  if (failure !== undefined) throw failure
  return isDetached ? 'detached' : 'ended'
}

/** The command has just ended, its input is full, or its daemon is away for a moment: no reason to detach. */
function isTransient(error: unknown): boolean {
  return error instanceof ReeveError && TRANSIENT.has(error.code)
}

const TRANSIENT = new Set<string>([
  'already_ended',
  'input_closed',
  'input_full',
  'closed',
  'daemon_unreachable',
])
