import { readFileSync, rmSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import { type Embedded, type EmbedOptions, embedWith } from '../embed/embed.ts'
import { redactionOf } from '../embed/redaction-of.ts'
import { announce, announceAgain, type RunningDaemon, withdraw } from '../home/announced-daemon.ts'
import { type HomePaths, homeFolder, homePaths } from '../home/paths.ts'
import { prepareHome } from '../home/prepare.ts'
import { presentDaemon } from '../home/present-daemon.ts'
import { bootId } from '../os/boot.ts'
import { isPidInUse, startTimeOf } from '../os/identity.ts'
import { ownVersion } from '../package/own-files.ts'
import { Redaction } from '../redaction/redaction.ts'
import { secretsIn } from '../redaction/secret-name.ts'
import type { Log } from '../server/served.ts'
import type { MountedHandler, ServeOptions, Server } from '../server/server.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { addressOf, type Configuration, configuration, type Flags } from './load-settings.ts'
import { type DaemonLog, logAt, logOf } from './log.ts'
import { type McpService, serveMcpClients } from './mcp-clients.ts'
import { SecretFile } from './secret-file.ts'
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
  const [reeve, { serve }] = await Promise.all([
    embedded({ home, values: config.values, log, redaction, times: options.times }),
    import('../server/server.ts'),
  ])
  let mcp: McpService | undefined
  try {
    const token = adminToken(home, tokens)
    mcp = serveMcpClients(reeve, home, config.values, log)
    // This daemon holds the lock of the data folder by now, so a socket file that is still there belongs to a dead daemon.
    rmSync(home.socket, { force: true })
    const server = await served(serve, config, log, {
      reeve,
      tokens,
      version: ownVersion(),
      log,
      socket: home.socket,
      hosts: config.values.hosts,
      mount: { ...mcp.mount, ...options.mount },
      limits: options.limits ?? {},
      streams: options.streams ?? {},
    })
    const { url } = server
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

interface DaemonParts {
  readonly reeve: Embedded
  readonly server: Server
  readonly mcp: McpService
  readonly telemetry: Telemetry | null
  readonly log: Log
}

/**
 * First ends the commands whose lifetime is the daemon, while clients that wait for them can still be answered; then closes the
 * server. The home announces meanwhile that this daemon stops: the next one waits for that.
 */
function closer(
  home: HomePaths,
  announced: RunningDaemon,
  { reeve, server, mcp, telemetry, log }: DaemonParts,
): Daemon['close'] {
  let closing: Promise<void> | undefined
  const closeAll = async (keep: boolean) => {
    log.info({ keep }, 'stopping')
    // A failed step must not prevent the others: a daemon that stopped only partly could not be stopped again.
    const troubles: unknown[] = []
    const step = async (doing: string, act: () => unknown) => {
      try {
        await act()
      } catch (error) {
        troubles.push(error)
        log.error({ err: error, doing }, `trouble while ${doing}`)
      }
    }
    await step('announcing the stop', () => announceAgain(home, { ...announced, stopping: true }))
    if (!keep)
      await step('ending the commands whose lifetime is the daemon', async () => {
        await server.told(await reeve.endWithDaemon())
      })
    await step('leaving MCP clients', () => mcp.close())
    await step('closing the server', () => server.close())
    await step('closing the telemetry', () => telemetry?.close())
    await step('closing the store', () => reeve.close({ keep }))
    await step('removing the announcement', () => withdraw(home))
    log.info({}, 'stopped')
    if (troubles.length > 0) throw troubles[0]
  }
  return ({ keep = false } = {}) => {
    closing ??= closeAll(keep)
    return closing
  }
}

/** The lock of the data folder is the real guard. This check saves opening the store, and names the home in the error. */
function refuseSecond(home: HomePaths): void {
  const present = presentDaemon(home)
  if (present === null || present.osPid === process.pid) return
  throw present.stopping === true ? stillStopping(home, present.osPid) : alreadyRunning(home, present.osPid)
}

/** How long a keeper may take to notice that its daemon was killed. */
const NOTICE_MS = 5_000
const LOOK_MS = 20

/** The keeper may not have noticed yet that the previous daemon is gone. Only a live daemon prevents the start. */
async function embedded(parts: EmbeddedParts): Promise<Embedded> {
  for (const until = Date.now() + NOTICE_MS; ; ) {
    try {
      return await embeddedOnce(parts)
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'daemon_already_running') throw error
      const { osPid } = error.details as { osPid: number | null }
      const isDead = osPid !== null && osPid !== process.pid && !isPidInUse(osPid)
      if (!isDead || Date.now() > until) throw alreadyRunning(parts.home, osPid)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
}

interface EmbeddedParts {
  readonly home: HomePaths
  readonly values: Settings
  readonly log: DaemonLog
  readonly redaction: Redaction
  readonly times: EmbedOptions['times'] | undefined
}

async function embeddedOnce({ home, values, log, redaction, times }: EmbeddedParts): Promise<Embedded> {
  const { mostCommands, graceMs, environment, shell, tree, waitMs } = values
  const secrets = new SecretFile(home)
  const options: EmbedOptions = {
    store: values.store ?? home.store,
    ...(times === undefined ? {} : { times }),
    commands: {
      home: home.commands,
      most: mostCommands,
      graceMs,
      environment,
      tree,
      ...(shell === null ? {} : { shell }),
      output: {
        headBytes: values.outputHeadBytes,
        tailBytes: values.outputTailBytes,
        totalBytes: values.outputTotalBytes,
        minFreeBytes: values.minFreeBytes,
      },
    },
    retention: {
      ...(values.keepEndedMs === 0 ? {} : { maxAgeMs: values.keepEndedMs }),
      ...(values.keepEnded === 0 ? {} : { maxEnded: values.keepEnded }),
    },
    secrets,
    waits: { defaultMs: waitMs },
    flood: {
      everyMs: values.watchEveryMs,
      strikes: values.watchStrikes,
      burst: values.watchBurst,
      burstMs: values.watchBurstMs,
      silenceMs: values.watchSilenceMs,
    },
    onReveal: (revealed) => log.warn({ ...revealed }, 'secrets were shown'),
    onTrouble: (error, doing) => log.warn({ err: error, doing }, `trouble while ${doing}`),
  }
  return embedWith(options, {
    redaction,
    logTrouble: () => log.trouble?.() ?? null,
    secretsTrouble: () => secrets.trouble(),
  })
}

function alreadyRunning(home: HomePaths, osPid: number | null): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `A daemon with PID ${osPid ?? 'unknown'} already runs in ${home.folder}.`,
    'Use it (reeve status), stop it (reeve down), or give this one a home of its own (REEVE_HOME).',
    { details: { osPid, home: home.folder } },
  )
}

function stillStopping(home: HomePaths, osPid: number): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `The daemon with PID ${osPid} in ${home.folder} is still stopping.`,
    'Try again when it is gone; reeve down waits for that.',
    { details: { osPid, home: home.folder } },
  )
}

/** If the default port is taken, and the user did not choose it, any free port is used. */
async function served(
  serve: (options: ServeOptions) => Promise<Server>,
  { values, sources }: Configuration,
  log: Log,
  options: Omit<ServeOptions, 'listen'>,
): Promise<Server> {
  const address = addressOf(values.listen)
  if (address === null) return serve(options)
  const tls = tlsOf(values)
  const listen = { ...address, ...(tls === undefined ? {} : { tls }) }
  try {
    return await serve({ ...options, listen })
  } catch (error) {
    const isTaken = error instanceof ReeveError && error.code === 'address_in_use'
    if (!isTaken || sources.listen !== 'default') throw error
    log.warn({ address: values.listen }, 'another program uses the default port; using any free port')
    return serve({ ...options, listen: { ...listen, port: 0 } })
  }
}

function tlsOf({ tlsCert, tlsKey }: Settings): { cert: Buffer; key: Buffer } | undefined {
  if (tlsCert === null || tlsKey === null) return undefined
  try {
    return { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) }
  } catch (error) {
    throw new ReeveError(
      'bad_configuration',
      `The files of tlsCert (${tlsCert}) and tlsKey (${tlsKey}) cannot be read: ${(error as Error).message}.`,
      'Name two PEM files that the daemon may read.',
      { cause: error, details: { key: 'tlsCert', value: tlsCert } },
    )
  }
}
