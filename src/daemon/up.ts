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
import { addressOf, type Configuration, configuration, type Flags } from './config.ts'
import { type DaemonLog, logAt, logOf } from './log.ts'
import { type Guests, guestsOf } from './mcp-guests.ts'
import { SecretFile } from './secret-file.ts'
import type { Settings } from './settings.ts'
import { telemetryFor } from './telemetry.ts'
import { adminToken, TokenFile } from './token-file.ts'

export interface UpOptions {
  /** The daemon's folder; `REEVE_HOME` or `~/.reeve` by default. */
  readonly home?: string
  readonly flags?: Flags
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where it logs; JSON lines on stderr by default, or at a terminal in a file of its home. */
  readonly log?: DaemonLog
  /** Further protocols, by path. */
  readonly mount?: Readonly<Record<string, MountedHandler>>
  readonly limits?: ServeOptions['limits']
  readonly streams?: ServeOptions['streams']
  /** How often it and the workers that it speaks for show that they live; tests are impatient. */
  readonly times?: EmbedOptions['times']
}

/** A daemon that is ready. */
export interface Daemon {
  readonly home: HomePaths
  /** Null where it listens on its socket alone. */
  readonly url: string | null
  /** The admin token of this home. */
  readonly token: string
  readonly configuration: Configuration
  readonly reeve: Embedded
  readonly log: Log
  /** In order: commands that live as long as the daemon are ended unless `keep`, then nobody is let in any more. */
  close(options?: { readonly keep?: boolean }): Promise<void>
}

/** Starts a daemon in this OS process. Ready when it resolves; whatever stops it is an error that says what to do. */
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
    tellWhyNot(log, error)
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
        `redactPatterns has ${JSON.stringify(pattern)} in it, which is no pattern: ${(error as Error).message}.`,
        'Patterns are RE2: no look-around, no back-references.',
        { cause: error, details: { key: 'redactPatterns', value: pattern } },
      )
    }
  }
}

/** What this daemon keeps to itself, in its answers and in its log: one learns of a secret with the other. */
export function secretsOf(home: HomePaths, values: Settings): Redaction {
  const redact = values.redact && { values: values.redactValues, patterns: values.redactPatterns }
  return withOwn(redactionOf({ redact, store: values.store ?? home.store }))
}

/** Its own environment, as it was started with. */
function withOwn(redaction: Redaction): Redaction {
  redaction.know(secretsIn(process.env))
  return redaction
}

/** Whoever started it in the background reads this in its log. At a terminal the error itself is shown. */
function tellWhyNot(log: Log | undefined, error: unknown): void {
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
    log.error({ err: error }, 'tokens cannot be read; those of before count'),
  )
  // Loaded while the keeper starts: that is most of the time until a daemon is ready.
  const [reeve, { serve }] = await Promise.all([
    embedded({ home, values: config.values, log, redaction, times: options.times }),
    import('../server/server.ts'),
  ])
  let guests: Guests | undefined
  try {
    const token = adminToken(home, tokens)
    guests = guestsOf(reeve, home, config.values, log)
    // The lock of the data folder is ours by now: a socket file that is still there is a dead daemon's.
    rmSync(home.socket, { force: true })
    const server = await served(serve, config, log, {
      reeve,
      tokens,
      version: ownVersion(),
      log,
      socket: home.socket,
      hosts: config.values.hosts,
      mount: { ...guests.mount, ...options.mount },
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
    const close = closer(home, announced, { reeve, server, guests, telemetry, log })
    return { home, url, token, configuration: config, reeve, log, close }
  } catch (error) {
    await guests?.close()
    withdraw(home)
    await reeve.close({ keep: true })
    throw error
  }
}

interface DaemonParts {
  readonly reeve: Embedded
  readonly server: Server
  readonly guests: Guests
  readonly telemetry: Telemetry | null
  readonly log: Log
}

/**
 * First what lives as long as the daemon ends, while whoever waits for it can still be told; then nobody is let in any more.
 * The home says all the while that this daemon stops: the next one waits for that.
 */
function closer(
  home: HomePaths,
  announced: RunningDaemon,
  { reeve, server, guests, telemetry, log }: DaemonParts,
): Daemon['close'] {
  let closing: Promise<void> | undefined
  const closeAll = async (keep: boolean) => {
    log.info({ keep }, 'stopping')
    // Whatever goes wrong with one of these is no reason to leave out the others: a daemon that half stopped could not be
    // stopped any more.
    const troubles: unknown[] = []
    const step = async (doing: string, act: () => unknown) => {
      try {
        await act()
      } catch (error) {
        troubles.push(error)
        log.error({ err: error, doing }, `trouble while ${doing}`)
      }
    }
    await step('saying that it stops', () => announceAgain(home, { ...announced, stopping: true }))
    if (!keep)
      await step('ending what lives as long as the daemon', async () => {
        await server.told(await reeve.endWithDaemon())
      })
    await step('leaving MCP clients', () => guests.close())
    await step('closing the doors', () => server.close())
    await step('telling the collector', () => telemetry?.close())
    await step('closing the store', () => reeve.close({ keep }))
    await step('taking its note away', () => withdraw(home))
    log.info({}, 'stopped')
    if (troubles.length > 0) throw troubles[0]
  }
  return ({ keep = false } = {}) => {
    closing ??= closeAll(keep)
    return closing
  }
}

/** The lock of the data folder is what counts; this only spares opening the store, and names the home. */
function refuseSecond(home: HomePaths): void {
  const present = presentDaemon(home)
  if (present === null || present.osPid === process.pid) return
  throw present.stopping === true ? stopping(home, present.osPid) : second(home, present.osPid)
}

/** How long a keeper may take to notice that its daemon was killed. */
const NOTICE_MS = 5_000
const LOOK_MS = 20

/** A keeper may not have noticed yet that the daemon before this one is gone. Only one that lives is in the way. */
async function embedded(parts: EmbeddedParts): Promise<Embedded> {
  for (const until = Date.now() + NOTICE_MS; ; ) {
    try {
      return await embeddedOnce(parts)
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'daemon_already_running') throw error
      const { osPid } = error.details as { osPid: number | null }
      const isDead = osPid !== null && osPid !== process.pid && !isPidInUse(osPid)
      if (!isDead || Date.now() > until) throw second(parts.home, osPid)
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

function second(home: HomePaths, osPid: number | null): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `A daemon with PID ${osPid ?? 'unknown'} already runs in ${home.folder}.`,
    'Use it (reeve status), stop it (reeve down), or give this one a home of its own (REEVE_HOME).',
    { details: { osPid, home: home.folder } },
  )
}

function stopping(home: HomePaths, osPid: number): ReeveError {
  return new ReeveError(
    'daemon_already_running',
    `The daemon with PID ${osPid} in ${home.folder} is stopping, and has not gone yet.`,
    'Try again when it has; reeve down waits for that.',
    { details: { osPid, home: home.folder } },
  )
}

/** Who chose no port wants to be reached, whatever the port: if the usual one is taken, any will do. */
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
    log.warn({ address: values.listen }, 'the usual port is taken by another program; taking any free one')
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
