import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Embedded, type EmbedOptions, embed, type Reeve, ReeveError } from 'reeve'
import { inject, onTestFinished } from 'vitest'
import { type Daemon, type UpOptions, up } from '../src/daemon/up.ts'
import type { RunningDaemon } from '../src/home/announced-daemon.ts'
import { type HomePaths, homePaths } from '../src/home/paths.ts'
import { type DataFolderPaths, dataFolderAt } from '../src/keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../src/keeper/protocol/messages.ts'
import type { KeeperIdentity } from '../src/keeper/protocol/program-state.ts'
import {
  cgroupsNamed,
  endForCertain,
  isAlive,
  markedWith,
  type OsProcess,
  osProcess,
} from './command/os-processes.ts'
import { removeCgroups, until } from './keeper/client.ts'
import { quickFolder } from './quick-folder.ts'
import { StartedDaemon } from './started-daemon.ts'
import { TEST_PRESET } from './test-preset.ts'

const UP = join(inject('builtReeve'), 'dist/fixtures/reeve-up.js')
export const quiet = { debug() {}, info() {}, warn() {}, error() {} }

type CommandsOptions = NonNullable<EmbedOptions['commands']>

/**
 * A temporary home folder with its store, in which embedded Reeves and daemons follow one another. When the test is over,
 * everything that it started is ended and the folder is removed. With `await using` it also checks that Reeve cleaned up
 * by itself: a keeper without programs, a program, a pipe, a descriptor or a cgroup that is left behind fails the test.
 */
export class TempReeve implements AsyncDisposable {
  readonly home: HomePaths
  /** The data folder of commands, which the keeper shares. */
  readonly keeperHome: DataFolderPaths
  /** Background failures of all embedded Reeves. */
  readonly troubles: string[] = []
  /** Log lines of all daemons in this OS process. */
  readonly logged: { readonly level: string; readonly facts: object; readonly words: string }[] = []
  readonly #embedded = new Set<Reeve>()
  readonly #daemons: Daemon[] = []
  readonly #children: OsProcess[] = []
  readonly #keepers = new Map<number, KeeperIdentity>()

  constructor({ parent = quickFolder }: { readonly parent?: string } = {}) {
    this.home = homePaths(mkdtempSync(join(parent, 'reeve-home-')))
    this.keeperHome = dataFolderAt(this.home.commands, PROTOCOL)
    // Not in the dispose method alone: a test that times out never reaches the end of its block.
    onTestFinished(() => this.#remove())
  }

  get folder(): string {
    return this.home.folder
  }

  get store(): string {
    return this.home.store
  }

  /** Embeds a Reeve that runs commands in this OS process. */
  async embed(
    commands: Partial<CommandsOptions> = {},
    options: Partial<Omit<EmbedOptions, 'commands'>> = {},
  ): Promise<Embedded> {
    const reeve = await embed({
      store: this.store,
      onTrouble: (error, doing) => void this.troubles.push(`${doing}: ${String(error)}`),
      ...TEST_PRESET,
      ...options,
      commands: { home: this.keeperHome.folder, environment: 'inherit', shell: '/bin/sh', ...commands },
    })
    this.#embedded.add(reeve)
    this.keeper()
    return reeve
  }

  /** Starts a daemon in this OS process, on any free port. */
  async up(options: Omit<UpOptions, 'home'> = {}): Promise<Daemon> {
    const note = (level: string) => (facts: object, words: string) => {
      this.logged.push({ level, facts, words })
    }
    const daemon = await up({
      env: {},
      log: { ...quiet, info: note('info'), warn: note('warn'), error: note('error') },
      ...options,
      home: this.home.folder,
      flags: {
        listen: '127.0.0.1:0',
        environment: 'inherit',
        shell: '/bin/sh',
        ...TEST_PRESET,
        ...options.flags,
      },
    })
    this.#daemons.push(daemon)
    return daemon
  }

  /** Starts a daemon in its own OS process; resolves when it is ready or has ended. It lacks variables that are undefined. */
  async start(
    args: readonly string[] = ['--listen', '127.0.0.1:0'],
    env: Readonly<Record<string, string | undefined>> = {},
    { openFiles }: { readonly openFiles?: number } = {},
  ): Promise<StartedDaemon> {
    // The shell becomes the daemon, so the limit holds for the daemon and for its keeper.
    const limited = openFiles === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`]
    const [program = '', ...words] = [...limited, process.execPath, UP, 'up', ...args]
    const child = spawn(program, words, {
      env: { ...process.env, ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const identity = osProcess(child.pid ?? 0)
    this.#children.push(identity)
    const started = new StartedDaemon(child, identity)
    await started.readyOrEnded
    return started
  }

  /** The environment variables of a daemon of this home. */
  get env(): Record<string, string> {
    return { REEVE_HOME: this.home.folder, REEVE_ENVIRONMENT: 'inherit', REEVE_SHELL: '/bin/sh' }
  }

  announced(): RunningDaemon | null {
    if (!existsSync(this.home.daemon)) return null
    return JSON.parse(readFileSync(this.home.daemon, 'utf8')) as RunningDaemon
  }

  /** Kills the announced daemon with SIGKILL; resolves when it is gone. */
  async killDaemon(): Promise<void> {
    const daemon = this.announced()
    if (daemon?.startTime == null) throw new Error(`No daemon announced itself in ${this.home.folder}`)
    await endForCertain({ osPid: daemon.osPid, startTime: daemon.startTime })
  }

  /** The id of the command data folder. */
  get id(): string {
    return (JSON.parse(readFileSync(this.keeperHome.identity, 'utf8')) as { id: string }).id
  }

  /** The keeper that serves the folder, as its identity file names it. */
  keeper(): KeeperIdentity {
    const keeper = JSON.parse(readFileSync(this.keeperHome.keeper.identity, 'utf8')) as KeeperIdentity
    this.#keepers.set(keeper.osPid, keeper)
    return keeper
  }

  /** Kills the keeper with SIGKILL; resolves when it is gone. */
  async killKeeper(): Promise<KeeperIdentity> {
    const keeper = this.keeper()
    await endForCertain(keeper)
    return keeper
  }

  /** OS processes that carry the marker of this folder, of one process or of all. */
  programs(pid = ''): number[] {
    return markedWith(`${pid}@${this.id}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const reeve of this.#embedded) await endAll(reeve)
    if (this.#isKeeperAlive() && this.programs().length > 0) await endAll(await this.embed())
    await this.#checkNothingIsLeft()
  }

  async #remove(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.close({ keep: true }).catch(() => undefined)
    for (const child of this.#children) await endForCertain(child)
    for (const osPid of this.#hasId() ? this.programs() : []) await endForCertain(osProcess(osPid))
    this.#isKeeperAlive()
    for (const keeper of this.#keepers.values()) await endForCertain(keeper)
    // Repeated, because a daemon or a keeper that is just starting replaces one that was ended.
    await until('no daemon and no keeper is left', async () => {
      const left = daemonsAndKeepersOf(this.home)
      for (const one of left) await endForCertain(one)
      return left.length === 0
    })
    if (this.#hasId()) removeCgroups(this.id)
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #checkNothingIsLeft(): Promise<void> {
    if (!this.#hasId()) return
    await until('the keeper is gone: there is nothing to keep', () => !this.#isKeeperAlive())
    // A keeper that the test never saw may still be cleaning up.
    await until('nothing is left', () => this.#leftovers().length === 0).catch(() => {
      throw new Error(`This was left behind: ${this.#leftovers().join(', ')}`)
    })
  }

  #leftovers(): string[] {
    return [
      ...this.programs().map((osPid) => `the program with PID ${osPid}`),
      ...readdirSync(this.keeperHome.fifos).map((name) => `the pipe ${name}`),
      ...cgroupsNamed(`reeve-${this.id}`).map((path) => `the cgroup ${path}`),
      ...descriptorsBelow(this.folder).map((path) => `a descriptor of ${path}`),
    ]
  }

  #isKeeperAlive(): boolean {
    try {
      this.keeper()
    } catch {
      // It removed its identity file. Keepers that were seen before may still be alive.
    }
    return [...this.#keepers.values()].some(isAlive)
  }

  #hasId(): boolean {
    try {
      return this.id !== ''
    } catch {
      // The folder has never been opened.
      return false
    }
  }
}

async function endAll(reeve: Reeve): Promise<void> {
  try {
    await reeve.killAll({ graceMs: 1 })
  } catch (error) {
    // The test has closed it already.
    if (!(error instanceof ReeveError && error.code === 'closed')) throw error
  }
  await reeve.close()
}

/** Keepers and daemons of a home, in the foreground or in the background. */
function daemonsAndKeepersOf({ folder, commands }: HomePaths): OsProcess[] {
  const osPids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const found = osPids.map(Number).filter((osPid) => {
    if (osPid === process.pid) return false
    const line = textOf(osPid, 'cmdline')
    // Threads of the kernel and zombies have no command line.
    if (line === '') return false
    return line.endsWith(`\0${commands}\0`) || hasVariable(textOf(osPid, 'environ'), `REEVE_HOME=${folder}`)
  })
  return found.map(osProcess).filter(isAlive)
}

function textOf(osPid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${osPid}/${file}`, 'utf8')
  } catch {
    // The process has ended since it was listed.
    return ''
  }
}

function hasVariable(environment: string, variable: string): boolean {
  return `\0${environment}`.includes(`\0${variable}\0`)
}

function descriptorsBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      // The descriptor of the listing itself is closed by now.
      return []
    }
  })
}
