import { requireProcess } from '../arguments.ts'
import { exitCodeOf } from '../exit-code.ts'
import { attachTerminal, RESET_TERMINAL } from '../foreground/attach-terminal.ts'
import { terminalOf } from '../foreground/terminal.ts'
import { waitForEnd } from '../foreground/wait-for-end.ts'
import { keyBytes } from '../keys.ts'
import { statusText } from '../print/status.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

/** A key as people write it: `Ctrl-]`. */
function keyText(key: string): string {
  return key.replace(/^ctrl-/i, 'Ctrl-')
}

/** How long to wait for the answer whether the terminal must be reset. */
const SCREEN_MS = 1_000

export const attach = subcommand({
  name: 'attach',
  summary: 'Attaches to the terminal of a command',
  usage: ['attach [options] <process>'],
  completes: 'live process',
  options: {
    'detach-key': { type: 'text', value: 'key', about: 'the key that detaches; by default ctrl-]' },
    'read-only': { type: 'flag', about: 'only watch: keys and window size are not passed on' },
    scrollback: {
      type: 'number',
      value: 'bytes',
      about: 'how much earlier output to show; by default 64 KiB',
    },
  },
  about: `
Several terminals may be attached at once. Detaching, or closing the window, leaves the command running. When the command ends,
attach ends with its exit code.`,
  examples: [['reeve attach shell', 'Ctrl-] detaches']],
  async run(context) {
    const { options, around, print } = context
    const given = requireProcess(context, { name: 'attach' })
    if (!around.stdin.isTTY || !around.stdout.isTTY)
      throw new UsageError(
        'reeve attach needs a terminal.',
        'Use reeve logs -f to read, and reeve send to type.',
      )
    const keyName = options['detach-key'] ?? 'ctrl-]'
    const detachKey = keyBytes(keyName).charCodeAt(0)
    const reeve = await context.acting()
    const record = await reeve.show({ pid: given })
    const { pid, spec, name } = record
    if (!spec['pty'])
      throw new UsageError(
        `${name ?? pid} has no terminal.`,
        `Use reeve logs -f ${name ?? pid}, or start it with --pty.`,
      )
    // Its output is not replayed: the terminal would answer the queries of a full-screen program, and type into the shell.
    if (record.outcome !== null) {
      print.aside(
        `${name ?? pid} has ended: ${statusText(record)}. reeve logs ${name ?? pid} shows what it printed.`,
      )
      return exitCodeOf(record)
    }
    const terminal = terminalOf(around)
    print.aside(`Attached to ${name ?? pid}: ${keyText(keyName)} detaches and leaves it running.`)
    context.screenIsTaken = true
    const { scrollback } = options
    const how = await attachTerminal(reeve, pid, terminal, {
      detachKey,
      readOnly: options['read-only'],
      scrollback,
    })
    if (how === 'ended') return exitCodeOf(await waitForEnd(reeve, pid))
    const shown = await reeve.screen({ pid }, { signal: AbortSignal.timeout(SCREEN_MS) }).catch(() => null)
    await terminal.show(Buffer.from(shown?.alternate === true ? RESET_TERMINAL : '\r\n'))
    print.aside(`Detached from ${name ?? pid}, which goes on running.`)
    return 0
  },
})
