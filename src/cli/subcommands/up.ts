import { ReeveError } from '../../core/errors.ts'
import type { RunningDaemon } from '../../home/announced-daemon.ts'
import { homeFolder } from '../../home/paths.ts'
import { refuseExtraArguments } from '../arguments.ts'
import type { Context } from '../context.ts'
import { displayWidth, padTo } from '../print/display-width.ts'
import { quoted } from '../print/status.ts'
import { stopSummary } from '../stop-summary.ts'
import { subcommand } from '../subcommand.ts'
import { flagsGiven, settingOptions } from '../up-options.ts'

export const up = subcommand({
  name: 'up',
  summary: 'Starts the daemon: in the foreground, or with -d in the background',
  usage: ['up [options]'],
  moreOptions: settingOptions,
  options: {
    detach: { type: 'flag', short: 'd', about: 'in the background; returns when it is ready' },
    quiet: { type: 'flag', short: 'q', about: 'print nothing when it is ready' },
  },
  about: `
Every subcommand that needs a daemon starts one in the background, so use this for services, and to watch the daemon.
Ctrl-C stops it; commands with the lifetime daemon end with it, and all others go on running. SIGHUP, and reeve down --keep, leave
all of them running. Options go before the environment (REEVE_LISTEN …), and that before reeve.json in the home. reeve config shows
the settings that a daemon would start with; a running daemon keeps those it was started with.`,
  examples: [
    ['reeve up', 'in the foreground, until Ctrl-C'],
    ['reeve up -d --listen off', 'in the background, on its Unix socket alone'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'up' })
    const { daemon, home, options } = context
    const flags = await flagsGiven(daemon, options)
    if (options.detach) {
      const before = await daemon.running(home)
      const isChange = Object.keys(flags).length > 0
      if (before !== null && before.stopping !== true && isChange) throw unchanged(before, home)
      const running = await daemon.start(home, flags)
      if (options.quiet) return 0
      greet(context, running, before?.osPid === running.osPid ? 'runs already' : 'is ready', true)
      return 0
    }
    let summary = ''
    const code = await daemon.up(home, flags, {
      ready(running) {
        if (!options.quiet) greet(context, running, 'is ready', false)
      },
      stopping(live, { keep }) {
        summary = stopSummary(live, keep)
      },
    })
    const { print, around } = context
    if (!options.quiet && !print.isJson) print.line(`${around.stdout.isTTY ? '\n' : ''}Stopped.${summary}`)
    return code
  },
})

/** Settings for a daemon that runs already would be ignored. */
function unchanged({ osPid }: RunningDaemon, home: string): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `A daemon with PID ${osPid} already runs in ${home}, and keeps the settings it was started with.`,
    'reeve down --keep stops it and leaves its commands running; then start it again.',
    { details: { osPid, home } },
  )
}

function greet(
  { print, home, daemon, options }: Context<unknown>,
  running: RunningDaemon,
  how: 'is ready' | 'runs already',
  isDetached: boolean,
): void {
  if (print.isJson) {
    print.json({ ...running, home })
    return
  }
  const { bold, dim, green, cyan } = print.colours
  // A line that is copied into another shell must select the same home.
  const isUsual = options.home === undefined && home === homeFolder({})
  const reeve = `${daemon.calledAs()}${isUsual ? '' : ` --home ${quoted(home)}`}`
  print.line(`${green('●')} ${bold('Reeve')} ${running.version} ${how} ${dim(`(PID ${running.osPid})`)}`)
  print.line()
  print.facts([
    ['address', running.url === null ? undefined : cyan(running.url)],
    ['home', home],
    ['MCP', `claude mcp add reeve -- ${reeve} mcp`],
  ])
  print.line()
  print.line('Try:')
  const lines = [
    [`${reeve} run -d --name clock -c 'while date; do sleep 1; done'`, 'a command in the background'],
    [`${reeve} logs -f clock`, 'its output'],
    [`${reeve} ps`, 'live processes'],
  ] as const
  const wide = Math.max(...lines.map(([line]) => displayWidth(line)))
  const widest = Math.max(...lines.map(([, meaning]) => `  ${' '.repeat(wide)}   ${meaning}`.length))
  const fits = print.width === undefined || widest <= print.width
  for (const [line, meaning] of lines) {
    if (!fits) print.line(dim(`  # ${meaning}`))
    print.line(fits ? `  ${padTo(line, wide)}   ${dim(meaning)}` : `  ${line}`)
  }
  print.line()
  print.line(dim(isDetached ? `${reeve} down stops it.` : 'Ctrl-C stops it.'))
  print.line(dim('Commands end with it, unless run with --lifetime detached or in a session.'))
}
