import { homeFolder, homePaths } from '../home/paths.ts'
import { closeInherited, inheritedFds } from '../os/inherited-fds.ts'
import { startKeeperEarly } from './early-keeper.ts'
import type { Daemon, UpOptions } from './up.ts'

export interface RunOptions extends UpOptions {
  /** Called once, when the daemon is ready. */
  readonly onReady?: (daemon: Daemon) => void | Promise<void>
  /** Called once, when it is asked to stop, while it still serves. What goes wrong there stops nobody. */
  readonly onStopping?: (daemon: Daemon, options: { readonly keep: boolean }) => Promise<void>
}

/** How a signal is meant. A terminal that is closed, or a `down --keep`, ends no command. */
const STOPS = {
  SIGINT: { keep: false },
  SIGTERM: { keep: false },
  SIGHUP: { keep: true },
  SIGUSR2: { keep: true },
} as const
/** Of settings that may hold a password. Named here because nothing of the settings is loaded so early; a test compares. */
export const SECRET_VARIABLES = [
  'REEVE_STORE',
  'REEVE_REDACT_VALUES',
  'REEVE_OTEL_HEADERS',
  'OTEL_EXPORTER_OTLP_HEADERS',
]
type StopSignal = keyof typeof STOPS

/**
 * A daemon for as long as this OS process is to live: stops in order on the first signal, and on a second SIGINT or SIGTERM
 * at once. Nothing is lost by that: the keeper holds the commands, and the next daemon goes on. Answers with the exit code.
 */
export async function run(options: RunOptions = {}): Promise<number> {
  const first = Promise.withResolvers<StopSignal>()
  const stopSignals = Object.keys(STOPS) as StopSignal[]
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals) => {
    const isAgain = isStopping && (signal === 'SIGINT' || signal === 'SIGTERM')
    if (isAgain) process.exit(signal === 'SIGINT' ? 130 : 143)
    isStopping = true
    first.resolve(signal as StopSignal)
  }
  for (const signal of stopSignals) process.on(signal, onSignal)
  try {
    // Closed when it is ready: what it was told to read, such as a key, may come through one of them.
    const inherited = inheritedFds()
    const env = options.env ?? { ...process.env }
    // Neither the keeper nor a command is to inherit it.
    for (const variable of SECRET_VARIABLES) delete process.env[variable]
    startKeeperEarly(homePaths(options.home ?? homeFolder(env)))
    const { up } = await import('./up.ts')
    const daemon = await up({ ...options, env })
    closeInherited(inherited)
    await options.onReady?.(daemon)
    const signal = await first.promise
    daemon.log.info({ signal }, 'asked to stop')
    await options.onStopping?.(daemon, STOPS[signal]).catch(() => undefined)
    try {
      await daemon.close(STOPS[signal])
    } catch {
      // It is in the log. What could not be closed must not keep this alive: nothing is lost, and the next one goes on.
      process.exit(1)
    }
    return 0
  } finally {
    for (const signal of stopSignals) process.off(signal, onSignal)
  }
}
