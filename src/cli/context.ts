import type { Readable, Writable } from 'node:stream'
import { type ConnectOptions, connectUnasked, connectWith } from '../client/connect.ts'
import { ReeveError } from '../core/errors.ts'
import { homeFolder } from '../home/paths.ts'
import type { Reeve, ReeveVerbs } from '../verbs/reeve.ts'
import type { DaemonControl } from './daemon-control.ts'
import { type GlobalOptions, isActor } from './global-options.ts'
import { Printer } from './print/printer.ts'
import type { Subcommands } from './subcommand.ts'
import { UsageError } from './usage-error.ts'

/** How long a call waits for a daemon that was stopped: its user may be restarting it. */
const RESTART_MS = 5_000

/** The surroundings of the program: streams, environment, working folder and the daemon's code. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly fd?: number }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly daemon: DaemonControl
}

/** A call of a subcommand: its options and arguments, the printer, and the connection to the daemon. */
export class Context<Options = Readonly<Record<string, unknown>>> {
  readonly options: Options & GlobalOptions
  readonly args: readonly string[]
  readonly around: Surroundings
  readonly subcommands: Subcommands
  readonly print: Printer
  /** True while another program draws on the terminal: nothing else may be written there. */
  screenIsTaken = false
  #reeve: Reeve | undefined
  #starting: Promise<string> | undefined
  #stoppedSince: number | null = null
  #isForAgent = false

  constructor(
    options: Options & GlobalOptions,
    args: readonly string[],
    around: Surroundings,
    subcommands: Subcommands,
  ) {
    this.options = options
    this.args = args
    this.around = around
    this.subcommands = subcommands
    this.print = new Printer(around, options)
  }

  get daemon(): DaemonControl {
    return this.around.daemon
  }

  get home(): string {
    return homeFolder({
      ...this.around.env,
      ...(this.options.home === undefined ? {} : { REEVE_HOME: this.options.home }),
    })
  }

  /** A daemon with an address is started and stopped by others. */
  get url(): string | undefined {
    return this.options.url ?? (this.around.env['REEVE_URL'] || undefined)
  }

  get token(): string | undefined {
    return this.options.token ?? (this.around.env['REEVE_TOKEN'] || undefined)
  }

  /** Acts for the actor of `--as`. Starts a daemon if none runs. */
  async acting(): Promise<ReeveVerbs> {
    const { as } = this.options
    const reeve = await this.reeve()
    if (as === undefined) return reeve
    if (!isActor(as))
      throw new UsageError(`--as was given ${as}.`, 'It takes host, session:<id> or process:<pid>.')
    return reeve.as(as)
  }

  async reeve(): Promise<Reeve> {
    this.#reeve ??= await this.#connect()
    return this.#reeve
  }

  /** For an agent: a new call fails at once if the user has stopped the daemon. `startStopped` starts it again. */
  reeveForAgent(): Promise<Reeve> {
    this.#isForAgent = true
    return this.reeve()
  }

  /** Starts the daemon if its user has stopped it. */
  async startStopped(): Promise<void> {
    if (this.#mayStart && (await this.daemon.wasStopped(this.home))) await this.#start()
  }

  /** A connection that never starts a daemon, for requests that the user did not ask for. The caller closes it. */
  quietly(): Reeve {
    return connectUnasked(this.#where())
  }

  async #connect(): Promise<Reeve> {
    const where = this.#where()
    if (!this.#mayStart) return connectWith(where)
    return connectUnasked(where, (hasAnswered, wasHeard) => this.#revive(hasAnswered, wasHeard))
  }

  get #mayStart(): boolean {
    return this.url === undefined && !this.options['no-start']
  }

  #where(): ConnectOptions {
    const { url, token } = this
    return {
      home: this.home,
      ...(url === undefined ? {} : { url }),
      ...(token === undefined ? {} : { token }),
    }
  }

  /** Replaces a daemon that was killed, but not one that its user stopped. */
  async #revive(hasAnswered: boolean, wasHeard: boolean): Promise<string | undefined> {
    const wasStopped = hasAnswered && (await this.daemon.wasStopped(this.home))
    if (!wasStopped) {
      this.#stoppedSince = null
      return this.#start()
    }
    this.#stoppedSince ??= Date.now()
    // An agent's call that was under way survives a restart of the daemon; a new call fails at once.
    const waits = wasHeard || !this.#isForAgent
    if (waits && Date.now() - this.#stoppedSince < RESTART_MS) return undefined
    throw new ReeveError(
      'daemon_unreachable',
      'The daemon was stopped by its user.',
      'Start it with reeve up, and try again.',
      { details: { reason: 'stopped' } },
    )
  }

  /** Starts one daemon for all calls that miss it at the same time. Resolves with its identity. */
  #start(): Promise<string> {
    this.#starting ??= this.#startOne().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #startOne(): Promise<string> {
    const before = await this.daemon.running(this.home)
    const { osPid, startTime } = await this.daemon.start(this.home, {})
    if (before?.osPid !== osPid && this.around.stderr.isTTY && !this.screenIsTaken)
      this.print.aside(`Started a daemon, PID ${osPid}; reeve down stops it.`)
    return `${osPid} ${startTime}`
  }

  async close(): Promise<void> {
    await this.#reeve?.close()
  }
}
