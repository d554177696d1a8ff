import { ReeveError } from '../../core/errors.ts'
import { oneProcess } from '../arguments.ts'
import { exitCodeOf } from '../exit-code.ts'
import { ended } from '../foreground/ended.ts'
import { terminalOf } from '../foreground/terminal.ts'
import { keyBytes } from '../keys.ts'
import { UsageError } from '../usage-error.ts'
import { word } from '../word.ts'

/** Whatever a full-screen program had switched on: other screen, mouse, pasting, hidden cursor, colours. */
const RESTORE =
  '\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?25h\u001b[0m\r\n'

/** How long it may take to say whether a full-screen program is left on the screen. */
const LAST_LOOK_MS = 1_000

export const attach = word({
  name: 'attach',
  summary: 'Sits down at the terminal of a command',
  usage: ['attach [options] <process>'],
  completes: 'live process',
  options: {
    'detach-key': { type: 'text', value: 'key', about: 'lets go of it; ctrl-] unless it says otherwise' },
    'read-only': { type: 'flag', about: 'keys and size stay here' },
    scrollback: {
      type: 'number',
      value: 'bytes',
      about: 'how much of what was printed before is shown; 64 KiB',
    },
  },
  about: `
Many may be attached at once. Who may only look says --read-only. Letting go changes nothing, and closing the window does the same; a command that has
ended lets go by itself, and its exit code is passed on.`,
  examples: [['reeve attach shell', 'Ctrl-] to let go']],
  async run(context) {
    const { options, around, print } = context
    const given = oneProcess(context, { name: 'attach' })
    if (!around.stdin.isTTY || !around.stdout.isTTY)
      throw new UsageError(
        'reeve attach needs a terminal.',
        'Use reeve logs -f to read, and reeve send to type.',
      )
    const letGo = keyBytes(options['detach-key'] ?? 'ctrl-]').charCodeAt(0)
    const reeve = await context.acting()
    const { pid, spec, name } = await reeve.show({ pid: given })
    if (!spec['pty'])
      throw new UsageError(
        `${name ?? pid} has no terminal.`,
        `Use reeve logs -f ${name ?? pid}, or start it with --pty.`,
      )
    const terminal = terminalOf(around)
    context.screenIsTaken = true
    const { scrollback } = options
    const attachment = await reeve.attach({ pid, ...(scrollback === undefined ? {} : { scrollback }) })
    let detached = false
    let refused: unknown
    const refuse = (error: unknown) => {
      if (detached || isPassing(error)) return
      refused ??= error
      attachment.detach()
    }
    const resize = async () => {
      if (!options['read-only']) await attachment.resize(terminal.size()).catch(refuse)
    }
    const stopKeys = terminal.raw(async (keys) => {
      const at = keys.indexOf(letGo)
      const typed = at === -1 ? keys : keys.subarray(0, at)
      // Not waited for: the key that lets go must be heard also where nobody answers.
      if (typed.length > 0 && !options['read-only']) void attachment.write(typed).catch(refuse)
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
    if (!detached) return exitCodeOf(await ended(reeve, pid))
    const shown = await reeve.screen({ pid }, { signal: AbortSignal.timeout(LAST_LOOK_MS) }).catch(() => null)
    await terminal.show(Buffer.from(shown?.alternate === true ? RESTORE : '\r\n'))
    print.aside(`Let go of ${name ?? pid}; it goes on.`)
    return 0
  },
})

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
