import { homeFolder, homePaths } from '../home/paths.ts'
import { closeInherited, inheritedFds } from '../os/inherited-fds.ts'
import { startKeeperEarly } from './early-keeper.ts'
import type { Daemon, UpOptions } from './up.ts'

export interface RunOptions extends UpOptions {
  /** Called once, when the daemon is ready. */
  readonly onReady?: (daemon: Daemon) => void | Promise<void>
  /** Called once, when a stop is requested, while it still serves. A failure does not prevent the stop. */
  readonly onStopping?: (daemon: Daemon, options: { readonly keep: boolean }) => Promise<void>
}

/** The effect of each signal. SIGHUP (a closed terminal) and SIGUSR2 (`down --keep`) end no command. */
const STOPS = {
  SIGINT: { keep: false },
  SIGTERM: { keep: false },
  SIGHUP: { keep: true },
  SIGUSR2: { keep: true },
} as const
/** The variables of settings that may contain a password. Listed here because the settings are loaded later; a test compares. */
export const SECRET_VARIABLES = [
  'REEVE_STORE',
  'REEVE_REDACT_VALUES',
  'REEVE_OTEL_HEADERS',
  'OTEL_EXPORTER_OTLP_HEADERS',
]
type StopSignal = keyof typeof STOPS

/**
 * Runs a daemon in this OS process until a signal. The first signal shuts it down; a second SIGINT or SIGTERM ends it at once, which
 * loses nothing: the keeper holds the commands, and the next daemon takes over. Resolves with the exit code.
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
    // Closed when the daemon is ready: a file that it reads at the start, such as a key, may be one of them.
    const inherited = inheritedFds()
    const env = options.env ?? { ...process.env }
    // Neither the keeper nor a command may inherit these.
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
      // The error is logged. A part that could not be closed must not keep this process alive: the next daemon takes over.
      process.exit(1)
    }
    return 0
  } finally {
    for (const signal of stopSignals) process.off(signal, onSignal)
  }
}
