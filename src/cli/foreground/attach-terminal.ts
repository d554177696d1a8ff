import { ReeveError } from '../../core/errors.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Terminal } from './terminal.ts'

/** Whatever a full-screen program had switched on: other screen, mouse, pasting, hidden cursor, colours. */
export const RESET_TERMINAL =
  '\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?25h\u001b[0m\r\n'

export interface AttachTerminalOptions {
  /** The byte of the key that lets go. */
  readonly letGo: number
  /** Keys and size stay here. */
  readonly readOnly?: boolean
  /** How many bytes of what was printed before are shown. */
  readonly scrollback?: number | undefined
}

/** Shows a command's terminal in this one, and types there what is typed here, until it is let go of or has ended. */
export async function attachTerminal(
  reeve: ReeveVerbs,
  pid: string,
  terminal: Terminal,
  { letGo, readOnly = false, scrollback }: AttachTerminalOptions,
): Promise<'let go' | 'ended'> {
  const attachment = await reeve.attach({ pid, ...(scrollback === undefined ? {} : { scrollback }) })
  let detached = false
  let refused: unknown
  const refuse = (error: unknown) => {
    if (detached || isPassing(error)) return
    refused ??= error
    attachment.detach()
  }
  const resize = async () => {
    if (!readOnly) await attachment.resize(terminal.size()).catch(refuse)
  }
  const stopKeys = terminal.raw(async (keys) => {
    const at = keys.indexOf(letGo)
    const typed = at === -1 ? keys : keys.subarray(0, at)
    // Not waited for: the key that lets go must be heard also where nobody answers.
    if (typed.length > 0 && !readOnly) void attachment.write(typed).catch(refuse)
    if (at === -1) return
    detached = true
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
  if (refused !== undefined) throw refused
  return detached ? 'let go' : 'ended'
}

/** It has just ended, takes no more for now, or its daemon is away for a moment: no reason to let go of it. */
function isPassing(error: unknown): boolean {
  return error instanceof ReeveError && PASSING.has(error.code)
}

const PASSING = new Set<string>([
  'already_ended',
  'input_closed',
  'input_full',
  'closed',
  'daemon_unreachable',
])
