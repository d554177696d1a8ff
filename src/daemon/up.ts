import { rmSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import type { Embedded } from '../embed/embed.ts'
import type { EmbedOptions } from '../embed/options.ts'
import { redactionOf } from '../embed/redaction-of.ts'
import { announce, withdraw } from '../home/announced-daemon.ts'
import { type HomePaths, homeFolder, homePaths } from '../home/paths.ts'
import { prepareHome } from '../home/prepare.ts'
import { bootId } from '../os/boot.ts'
import { startTimeOf } from '../os/identity.ts'
import { ownVersion } from '../package/own-files.ts'
import { Redaction } from '../redaction/redaction.ts'
import { secretsIn } from '../redaction/secret-name.ts'
import type { Log } from '../server/served.ts'
import type { MountedHandler, ServeOptions, Server } from '../server/server.ts'
import { closer } from './closer.ts'
import { embedInHome } from './embed-in-home.ts'
import { type Configuration, configuration, type Flags } from './load-settings.ts'
import { type DaemonLog, logAt, logOf } from './log.ts'
import { type McpService, serveMcpClients } from './mcp-clients.ts'
import { refuseSecond } from './one-daemon.ts'
import { serveAtAddress } from './serve-at-address.ts'
import type { Settings } from './settings.ts'
import { telemetryFor } from './telemetry.ts'
import { adminToken, TokenFile } from './token-file.ts'

export interface UpOptions {
  /** The daemon's folder; `REEVE_HOME` or `~/.reeve` by default. */
  readonly home?: string
  readonly flags?: Flags
  readonly env?: Readonly<Record<string, string | undefined>>
  /** By default JSON lines on stderr, or, at a terminal, in the log file of the home. */
  readonly log?: DaemonLog
  /** Further protocols, by path. */
  readonly mount?: Readonly<Record<string, MountedHandler>>
  readonly limits?: ServeOptions['limits']
  readonly streams?: ServeOptions['streams']
  /** The intervals of leases and sweeps; tests shorten them. */
  readonly times?: EmbedOptions['times']
}

/** A daemon that is ready. */
export interface Daemon {
  readonly home: HomePaths
  /** Null if it listens only on its socket. */
  readonly url: string | null
  /** The admin token of this home. */
  readonly token: string
  readonly configuration: Configuration
  readonly reeve: Embedded
  readonly log: Log
  /** First ends the commands whose lifetime is the daemon, unless `keep`; then closes the server. */
  close(options?: { readonly keep?: boolean }): Promise<void>
}

/** Starts a daemon in this OS process, and resolves when it is ready. */
export async function up(options: UpOptions = {}): Promise<Daemon> {
  const env = options.env ?? process.env
  const home = homePaths(options.home ?? homeFolder(env))
  let log = options.log
  try {
    prepareHome(home)
    const config = configuration(options.flags ?? {}, env, home)
    refuseWrongPatterns(config.values)
    const redaction = secretsOf(home, config.values)
    log ??= logOf(home, config.values, redaction)
    refuseSecond(home)
    return await start(home, config, log, redaction, options)
  } catch (error) {
    logStartFailure(log, error)
    throw error
  }
}

function refuseWrongPatterns({ redactPatterns: patterns }: Settings): void {
  for (const pattern of patterns) {
    try {
      new Redaction({ patterns: [pattern] })
    } catch (error) {
      throw new ReeveError(
        'bad_configuration',
        `redactPatterns contains ${JSON.stringify(pattern)}, which is not a pattern: ${(error as Error).message}.`,
        'Patterns are RE2: no look-around, no back-references.',
        { cause: error, details: { key: 'redactPatterns', value: pattern } },
      )
    }
  }
}

/** The redaction of this daemon's answers and of its log. They share it, so that a secret that one learns is masked in both. */
export function secretsOf(home: HomePaths, values: Settings): Redaction {
  const redact = values.redact && { values: values.redactValues, patterns: values.redactPatterns }
  return withOwn(redactionOf({ redact, store: values.store ?? home.store }))
}

/** Adds the secrets of this program's environment. */
function withOwn(redaction: Redaction): Redaction {
  redaction.know(secretsIn(process.env))
  return redaction
}

/** The starter of a background daemon reads this line in the log. At a terminal the error itself is shown. */
function logStartFailure(log: Log | undefined, error: unknown): void {
  if (log === undefined && process.stderr.isTTY) return
  const to = log ?? logAt(withOwn(new Redaction()))
  const { code, message, remedy, details } = error instanceof ReeveError ? error : {}
  to.error(code === undefined ? { err: error } : { code, message, remedy, details }, 'not started')
}

async function start(
  home: HomePaths,
  config: Configuration,
  log: DaemonLog,
  redaction: Redaction,
  options: UpOptions,
): Promise<Daemon> {
  const tokens = new TokenFile(home, (error) =>
    log.error({ err: error }, 'tokens cannot be read; the previous ones stay valid'),
  )
  // The server is loaded while the keeper starts, which takes most of the time until a daemon is ready.
  let address: Server['address'] = null
  const ownAddresses = () => (address === null ? [] : [address])
  const [reeve, { serve }] = await Promise.all([
    embedInHome({ home, values: config.values, log, redaction, times: options.times, ownAddresses }),
    import('../server/server.ts'),
  ])
  let mcp: McpService | undefined
  try {
    const token = adminToken(home, tokens)
    mcp = serveMcpClients(reeve, home, config.values, log)
    // This daemon holds the lock of the data folder by now, so a socket file that is still there belongs to a dead daemon.
    rmSync(home.socket, { force: true })
    const server = await serveAtAddress(serve, config, log, {
      reeve,
      tokens,
      version: ownVersion(),
      log,
      socket: home.socket,
      hosts: config.values.hosts,
      approver: config.values.approver,
      mount: { ...mcp.mount, ...options.mount },
      limits: options.limits ?? {},
      streams: options.streams ?? {},
    })
    const { url } = server
    address = server.address
    const startTime = startTimeOf(process.pid)
    const running = { osPid: process.pid, startTime, bootId: bootId(), url, version: ownVersion() }
    const { inheritEnv } = config.values
    const announced = { ...running, startedAt: Date.now(), inheritEnv }
    // At once, so that a client that was answered can also stop it.
    announce(home, announced)
    log.startRotation?.()
    const telemetry = await telemetryFor(config, options.env ?? process.env, { home, reeve, server, log })
    log.info({ home: home.folder, url, osPid: process.pid }, 'ready')
    const close = closer(home, announced, { reeve, server, mcp, telemetry, log })
    return { home, url, token, configuration: config, reeve, log, close }
  } catch (error) {
    await mcp?.close()
    withdraw(home)
    await reeve.close({ keep: true })
    throw error
  }
}
