import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Embedded,
  type EmbedOptions,
  embed,
  type InputOf,
  type ProcessRecord,
  type Reeve,
  ReeveError,
} from 'reeve'
import { onTestFinished } from 'vitest'
import { type Home, homeAt } from '../../src/keeper/protocol/home.ts'
import { type KeeperIdentity, PROTOCOL } from '../../src/keeper/protocol/messages.ts'
import { removeCgroups, startTimeOf, until } from '../keeper/client.ts'
import { quickFolder } from '../quick-folder.ts'
import { cgroupsNamed, endForCertain, isAlive, markedWith } from './os-processes.ts'
import { textOf } from './read-output.ts'

export { bytesOf, textOf } from './read-output.ts'

type CommandsOptions = NonNullable<EmbedOptions['commands']>
type Spec = Extract<InputOf<'spawn'>, { kind: 'command' }>['spec']
export type CommandRequest = Omit<Extract<InputOf<'spawn'>, { kind: 'command' }>, 'kind' | 'spec'>

/**
 * A store and a data folder, in which daemons follow one another. At its end it looks whether anything was left behind:
 * a keeper with nothing to keep, a program, a pipe, a descriptor, a cgroup. What is, fails the test.
 */
export class TempReeve implements AsyncDisposable {
  readonly folder = mkdtempSync(join(quickFolder, 'reeve-commands-'))
  readonly store = join(this.folder, 'reeve.db')
  readonly home: Home = homeAt(join(this.folder, 'home'), PROTOCOL)
  /** What went wrong in work that nobody waited for, over all daemons of this temp. */
  readonly troubles: string[] = []
  readonly #open = new Set<Reeve>()
  readonly #keepers = new Map<number, KeeperIdentity>()

  constructor() {
    // A test that took too long never comes to the end of its block.
    onTestFinished(() => this.#tidy())
  }

  /** A daemon in this OS process. */
  async open(
    commands: Partial<CommandsOptions> = {},
    options: Partial<Omit<EmbedOptions, 'commands'>> = {},
  ): Promise<Embedded> {
    const reeve = await embed({
      store: this.store,
      onTrouble: (error, doing) => void this.troubles.push(`${doing}: ${String(error)}`),
      ...options,
      commands: { home: this.home.folder, environment: 'inherit', shell: '/bin/sh', ...commands },
    })
    this.#open.add(reeve)
    this.keeper()
    return reeve
  }

  get id(): string {
    return (JSON.parse(readFileSync(this.home.identity, 'utf8')) as { id: string }).id
  }

  /** The keeper that answers for the folder, as it says itself. */
  keeper(): KeeperIdentity {
    const keeper = JSON.parse(readFileSync(this.home.keeper.identity, 'utf8')) as KeeperIdentity
    this.#keepers.set(keeper.osPid, keeper)
    return keeper
  }

  /** `kill -9`, and comes back when it is gone. */
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
    for (const reeve of this.#open) await endAll(reeve)
    if (this.#keeperLives() && this.programs().length > 0) await endAll(await this.open())
    await this.#nothingIsLeft()
  }

  /** Whatever came of the test: nothing that it started outlives it. */
  async #tidy(): Promise<void> {
    for (const osPid of this.#known() ? this.programs() : [])
      await endForCertain({ osPid, startTime: startTimeOf(osPid) })
    this.#keeperLives()
    for (const keeper of this.#keepers.values()) await endForCertain(keeper)
    if (this.#known()) removeCgroups(this.id)
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #nothingIsLeft(): Promise<void> {
    if (!this.#known()) return
    await until('the keeper is gone: there is nothing to keep', () => !this.#keeperLives())
    // A keeper that nobody saw may be tidying up still.
    await until('nothing is left', () => this.#left().length === 0).catch(() => {
      throw new Error(`This was left behind: ${this.#left().join(', ')}`)
    })
  }

  #left(): string[] {
    return [
      ...this.programs().map((osPid) => `the program with PID ${osPid}`),
      ...readdirSync(this.home.fifos).map((name) => `the pipe ${name}`),
      ...cgroupsNamed(`reeve-${this.id}`).map((path) => `the cgroup ${path}`),
      ...descriptorsBelow(this.folder).map((path) => `a descriptor of ${path}`),
    ]
  }

  #keeperLives(): boolean {
    try {
      this.keeper()
    } catch {
      // Withdrawn: the keepers that were seen before are looked at all the same.
    }
    return [...this.#keepers.values()].some(isAlive)
  }

  #known(): boolean {
    try {
      return this.id !== ''
    } catch {
      // No daemon ever opened the folder.
      return false
    }
  }
}

/** Spawns a line for the shell, or a whole spec. */
export async function start(
  reeve: Pick<Reeve, 'spawn'>,
  what: string | Spec,
  request: CommandRequest = {},
): Promise<ProcessRecord> {
  const spec = typeof what === 'string' ? { run: what } : what
  return (await reeve.spawn({ kind: 'command', spec, ...request })).record
}

/** The record of a process that has ended, or ends within the time. */
export async function ended(reeve: Pick<Reeve, 'wait'>, pid: string): Promise<ProcessRecord> {
  const waited = await reeve.wait({ pid, timeoutMs: 30_000 })
  if (waited.type !== 'ended') throw new Error(`${pid} has not ended: ${waited.type}`)
  return waited.record
}

/** Runs a command to its end: how it ended, and everything it printed. */
export async function runs(reeve: Reeve, what: string | Spec, request: CommandRequest = {}) {
  const { pid } = await start(reeve, what, request)
  const { outcome } = await ended(reeve, pid)
  return { pid, outcome, text: await textOf(reeve, pid) }
}

/** Waits until it has printed a text; fails if it ends before. */
export async function printed(reeve: Pick<Reeve, 'wait'>, pid: string, text: string): Promise<void> {
  const waited = await reeve.wait({ pid, until: { text }, timeoutMs: 30_000 })
  if (waited.type !== 'matched') throw new Error(`${pid} has not printed ${text}: ${waited.type}`)
}

/** The code of what it is refused with. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    if (error.message === '' || error.remedy === '') throw new Error(`${error.code} without words`)
    return error.code
  }
  return 'accepted'
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

function descriptorsBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      // The descriptor of the listing itself is gone by now.
      return []
    }
  })
}
