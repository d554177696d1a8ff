import { requireProcess } from '../arguments.ts'
import { exitCodeOf } from '../exit-code.ts'
import { attachTerminal, RESET_TERMINAL } from '../foreground/attach-terminal.ts'
import { terminalOf } from '../foreground/terminal.ts'
import { waitForEnd } from '../foreground/wait-for-end.ts'
import { keyBytes } from '../keys.ts'
import { statusText } from '../print/status.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

/** As keys are written for people: `Ctrl-]`. */
function keyText(key: string): string {
  return key.replace(/^ctrl-/i, 'Ctrl-')
}

/** How long it may take to say whether a full-screen program is left on the screen. */
const LAST_LOOK_MS = 1_000

export const attach = subcommand({
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
    const given = requireProcess(context, { name: 'attach' })
    if (!around.stdin.isTTY || !around.stdout.isTTY)
      throw new UsageError(
        'reeve attach needs a terminal.',
        'Use reeve logs -f to read, and reeve send to type.',
      )
    const detachKey = options['detach-key'] ?? 'ctrl-]'
    const letGo = keyBytes(detachKey).charCodeAt(0)
    const reeve = await context.acting()
    const record = await reeve.show({ pid: given })
    const { pid, spec, name } = record
    if (!spec['pty'])
      throw new UsageError(
        `${name ?? pid} has no terminal.`,
        `Use reeve logs -f ${name ?? pid}, or start it with --pty.`,
      )
    // Its output is not replayed: the queries of a full-screen program in it would be answered into the shell.
    if (record.outcome !== null) {
      print.aside(
        `${name ?? pid} has ended: ${statusText(record)}. reeve logs ${name ?? pid} shows what it printed.`,
      )
      return exitCodeOf(record)
    }
    const terminal = terminalOf(around)
    print.aside(`Attached to ${name ?? pid}: ${keyText(detachKey)} leaves it running.`)
    context.screenIsTaken = true
    const { scrollback } = options
    const how = await attachTerminal(reeve, pid, terminal, {
      letGo,
      readOnly: options['read-only'],
      scrollback,
    })
    if (how === 'ended') return exitCodeOf(await waitForEnd(reeve, pid))
    const shown = await reeve.screen({ pid }, { signal: AbortSignal.timeout(LAST_LOOK_MS) }).catch(() => null)
    await terminal.show(Buffer.from(shown?.alternate === true ? RESET_TERMINAL : '\r\n'))
    print.aside(`Let go of ${name ?? pid}; it goes on.`)
    return 0
  },
})
