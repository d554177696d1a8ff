import type { OutputOf } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import type { Context } from '../context.ts'
import { stopSummary } from '../stop-summary.ts'
import { subcommand } from '../subcommand.ts'

/** After this time `down` prints the reason for the wait. */
const PATIENCE_MS = 1_000

export const down = subcommand({
  name: 'down',
  summary: 'Stops the daemon',
  usage: ['down [options]'],
  options: {
    keep: { type: 'flag', short: 'k', about: 'leave all commands running; the next daemon takes them over' },
    quiet: { type: 'flag', short: 'q', about: 'print nothing' },
  },
  about:
    'Commands with the lifetime daemon, which is the default without a session, end with it. Others go on running.',
  examples: [
    ['reeve down', 'with the commands that end with it'],
    ['reeve down --keep && reeve up -d', 'a new daemon, the same commands'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'down' })
    const { daemon, home, options, print, around } = context
    // Without a daemon, a request would wait for one.
    const before = (await daemon.running(home)) === null ? [] : await liveCommands(context)
    const explain = setTimeout(() => {
      if (around.stderr.isTTY && !options.quiet) print.aside('Waiting for its commands to end …')
    }, PATIENCE_MS)
    const stopped = await daemon.down(home, { keep: options.keep }).finally(() => clearTimeout(explain))
    if (print.isJson) print.json({ stopped })
    else if (!options.quiet) {
      if (stopped === null) print.line(`No daemon runs in ${home}.`)
      else print.line(`Stopped the daemon with PID ${stopped.osPid}.${stopSummary(before, options.keep)}`)
    }
    return 0
  },
})

type ProcessRecord = OutputOf<'show'>

/** The live commands; none if the daemon does not answer in time: it is stopped all the same. */
async function liveCommands(context: Context<unknown>): Promise<ProcessRecord[]> {
  const reeve = context.quietly()
  try {
    const signal = AbortSignal.timeout(LIST_MS)
    const { processes } = await reeve.list({ filter: { kind: 'command' } }, { signal })
    return processes.map(({ record }) => record)
  } catch {
    return []
  } finally {
    await reeve.close()
  }
}

const LIST_MS = 1_000
