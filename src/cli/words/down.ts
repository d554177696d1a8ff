import { nothingMore } from '../arguments.ts'
import { word } from '../word.ts'

/** After this, whoever waits is told for what. */
const LONG_MS = 1_000

export const down = word({
  name: 'down',
  summary: 'Stops the daemon in order',
  usage: ['down [options]'],
  options: {
    keep: { type: 'flag', short: 'k', about: 'leave all commands running; the next daemon finds them' },
    quiet: { type: 'flag', short: 'q', about: 'print nothing' },
  },
  about:
    'Commands with the lifetime daemon, which is the default without a session, end with it. Others go on.',
  examples: [
    ['reeve down', 'and what lives as long as it does'],
    ['reeve down --keep && reeve up -d', 'another daemon, the same commands'],
  ],
  async run(context) {
    nothingMore(context, { name: 'down' })
    const { daemon, home, options, print, around } = context
    const isLong = setTimeout(() => {
      if (around.stderr.isTTY && !options.quiet) print.aside('Waiting for its commands to end …')
    }, LONG_MS)
    const stopped = await daemon.down(home, { keep: options.keep }).finally(() => clearTimeout(isLong))
    if (print.isJson) print.json({ stopped })
    else if (!options.quiet)
      print.line(
        stopped === null ? `No daemon runs in ${home}.` : `Stopped the daemon with PID ${stopped.osPid}.`,
      )
    return 0
  },
})
