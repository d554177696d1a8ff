import { nothingMore } from '../arguments.ts'
import { word } from '../word.ts'

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
    const { daemon, home, options, print } = context
    const stopped = await daemon.down(home, { keep: options.keep })
    if (print.isJson) print.json({ stopped })
    else if (!options.quiet)
      print.line(
        stopped === null ? `No daemon runs in ${home}.` : `Stopped the daemon with PID ${stopped.osPid}.`,
      )
    return 0
  },
})
