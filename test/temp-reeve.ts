import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type HomePaths, homePaths, type RunningDaemon } from '../../src/client/home.ts'
import { type Daemon, type UpOptions, up } from '../../src/daemon/up.ts'
import { homeAt } from '../../src/keeper/protocol/home.ts'
import { PROTOCOL } from '../../src/keeper/protocol/messages.ts'
import { endForCertain, isAlive, markedWith } from '../command/os-processes.ts'
import { removeCgroups, startTimeOf, until } from '../keeper/client.ts'
import { quickFolder } from '../quick-folder.ts'

const UP = fileURLToPath(new URL('../fixtures/reeve-up.ts', import.meta.url))
export const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A home in which daemons follow one another. Whatever came of the test, nothing that it started outlives it. */
export class TempReeve {
  readonly home: HomePaths
  /** What daemons of this OS process logged. */
  readonly logged: { readonly level: string; readonly facts: object; readonly words: string }[] = []
  readonly #daemons: Daemon[] = []
  readonly #children: { osPid: number; startTime: string }[] = []

  constructor({ parent = quickFolder }: { readonly parent?: string } = {}) {
    const folder = mkdtempSync(join(parent, 'reeve-home-'))
    this.home = homePaths(folder)
    onTestFinished(() => this.#tidy(folder))
  }

  /** A daemon in this OS process, on any free port. */
  async up(options: Omit<UpOptions, 'home'> = {}): Promise<Daemon> {
    const note = (level: string) => (facts: object, words: string) => {
      this.logged.push({ level, facts, words })
    }
    const daemon = await up({
      env: {},
      log: { ...quiet, info: note('info'), warn: note('warn'), error: note('error') },
      ...options,
      home: this.home.folder,
      flags: { listen: '127.0.0.1:0', environment: 'inherit', shell: '/bin/sh', ...options.flags },
    })
    this.#daemons.push(daemon)
    return daemon
  }

  /** A daemon in an OS process of its own; resolves when it has ended or is ready. */
  async start(
    args: readonly string[] = ['--listen', '127.0.0.1:0'],
    env: Readonly<Record<string, string>> = {},
    { openFiles }: { readonly openFiles?: number } = {},
  ): Promise<Started> {
    // The shell becomes the daemon, which has the limit then, and its keeper too.
    const limited = openFiles === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`]
    const [program = '', ...words] = [...limited, process.execPath, UP, 'up', ...args]
    const child = spawn(program, words, {
      env: { ...process.env, ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const osPid = child.pid ?? 0
    const identity = { osPid, startTime: startTimeOf(osPid) }
    this.#children.push(identity)
    const started = new Started(child, identity)
    await started.readyOrEnded
    return started
  }

  /** What a daemon of this home is started with in its environment. */
  get env(): Record<string, string> {
    return { REEVE_HOME: this.home.folder, REEVE_ENVIRONMENT: 'inherit', REEVE_SHELL: '/bin/sh' }
  }

  announced(): RunningDaemon | null {
    if (!existsSync(this.home.daemon)) return null
    return JSON.parse(readFileSync(this.home.daemon, 'utf8')) as RunningDaemon
  }

  /** `kill -9` of the daemon that announced itself, and comes back when it is gone. */
  async killDaemon(): Promise<void> {
    const daemon = this.announced()
    if (daemon?.startTime == null) throw new Error(`No daemon announced itself in ${this.home.folder}`)
    await endForCertain({ osPid: daemon.osPid, startTime: daemon.startTime })
  }

  async #tidy(folder: string): Promise<void> {
    for (const daemon of this.#daemons) await daemon.close({ keep: true }).catch(() => undefined)
    for (const child of this.#children) await endForCertain(child)
    const home = homeAt(this.home.commands, PROTOCOL)
    const id = jsonIn<{ id: string }>(home.identity)?.id
    for (const program of id === undefined ? [] : markedWith(`@${id}`))
      await endForCertain({ osPid: program, startTime: startTimeOf(program) })
    // Also those that were only coming: a daemon or a keeper that finds the one before it gone takes its place.
    await until('no daemon and no keeper is left', async () => {
      const left = livingIn(this.home)
      for (const one of left) await endForCertain(one)
      return left.length === 0
    })
    if (id !== undefined) removeCgroups(id)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A daemon in another OS process, and what it said. */
export class Started {
  readonly osPid: number
  readonly readyOrEnded: Promise<unknown>
  readonly #child: ChildProcess
  readonly #identity: { osPid: number; startTime: string }
  stdout = ''
  stderr = ''

  constructor(child: ChildProcess, identity: { osPid: number; startTime: string }) {
    this.#child = child
    this.#identity = identity
    this.osPid = identity.osPid
    child.stderr?.on('data', (data: Buffer) => {
      this.stderr += data.toString()
    })
    const ready = new Promise<void>((resolve) => {
      child.stdout?.on('data', (data: Buffer) => {
        this.stdout += data.toString()
        if (this.stdout.includes('\n')) resolve()
      })
    })
    this.readyOrEnded = Promise.race([ready, once(child, 'close')])
  }

  get url(): string | null {
    return (JSON.parse(this.stdout.split('\n')[0] ?? '{}') as { ready: string | null }).ready
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async ended(): Promise<{ code: number | null; signal: string | null }> {
    await until('the daemon has ended', () => !isAlive(this.#identity))
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
    return { code: this.#child.exitCode, signal: this.#child.signalCode }
  }

  async kill(): Promise<void> {
    await endForCertain(this.#identity)
  }
}

/** OS processes that were started as keepers or as daemons of a home, in the foreground or in the background. */
function livingIn({ folder, commands }: HomePaths): { osPid: number; startTime: string }[] {
  const osPids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const found = osPids.map(Number).filter((osPid) => {
    if (osPid === process.pid) return false
    const isKeeper = textsIn(osPid, 'cmdline').at(-1) === commands
    return isKeeper || textsIn(osPid, 'environ').includes(`REEVE_HOME=${folder}`)
  })
  return found.map((osPid) => ({ osPid, startTime: startTimeOf(osPid) })).filter(isAlive)
}

function textsIn(osPid: number, file: 'cmdline' | 'environ'): string[] {
  try {
    return readFileSync(`/proc/${osPid}/${file}`, 'utf8').split('\0').slice(0, -1)
  } catch {
    // Gone since it was listed.
    return []
  }
}

function jsonIn<Type>(path: string): Type | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Type
  } catch {
    // Nobody has been there yet, or it is gone again.
    return undefined
  }
}
