import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DataFolderPaths, dataFolderAt } from '../../src/keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../../src/keeper/protocol/messages.ts'
import type { KeeperIdentity } from '../../src/keeper/protocol/program-state.ts'
import {
  cgroupsNamed,
  childrenOf,
  endForCertain,
  isAlive,
  markedWith,
  type OsProcess,
  openDescriptors,
  osProcess,
} from '../command/os-processes.ts'
import { removeCgroups, startTimeOf, until } from '../keeper/client.ts'

/** Node opens one when the first file is watched, and keeps it. */
const OPENED_ONCE = 'anon_inode:inotify'

type Open = ReadonlyMap<string, number>

function keepersOf(folder: string): OsProcess[] {
  const osPids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const keepers = osPids.map(Number).filter((osPid) => {
    try {
      return readFileSync(`/proc/${osPid}/cmdline`, 'utf8').split('\0').at(-2) === folder
    } catch {
      // It has ended since it was listed.
      return false
    }
  })
  return keepers.map(osProcess).filter(isAlive)
}

/** The folder of one soak, with its store and its keeper. Not a `TempReeve`, because a soak also runs outside of Vitest. */
export class SoakFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'reeve-soak-'))
  readonly store = join(this.folder, 'reeve.db')
  /** The data folder of commands. */
  readonly home: DataFolderPaths

  /** `commands`: the name of the data folder; a daemon's own one is `commands` in its home. */
  constructor(commands: 'home' | 'commands' = 'home') {
    this.home = dataFolderAt(join(this.folder, commands), PROTOCOL)
  }

  get commands() {
    return { home: this.home.folder, environment: 'inherit', shell: '/bin/sh' } as const
  }

  /** Null while no keeper serves the folder. */
  keeper(): KeeperIdentity | null {
    try {
      return JSON.parse(readFileSync(this.home.keeper.identity, 'utf8')) as KeeperIdentity
    } catch {
      // Removed, or just being written.
      return null
    }
  }

  /** The open descriptors of the keeper. An idle keeper that has more than before leaks. */
  open(): Open {
    const keeper = this.keeper()
    if (keeper === null) throw new Error('There is no keeper')
    return openDescriptors(keeper.osPid)
  }

  programs(): number[] {
    return existsSync(this.home.identity) ? markedWith(`@${this.#id()}`) : []
  }

  /** OS processes and files that ended commands left behind, while the keeper is still alive. */
  async leftovers(before: Open): Promise<string[]> {
    const look = () => {
      const keeper = this.keeper()
      const zombies = keeper === null ? [] : childrenOf(keeper.osPid).filter(({ state }) => state === 'Z')
      return [
        ...this.programs().map((osPid) => `the program with PID ${osPid} lives on`),
        ...zombies.map(({ osPid }) => `PID ${osPid} is a zombie of the keeper`),
        ...[...this.open()]
          .filter(([what, count]) => count > (before.get(what) ?? (what === OPENED_ONCE ? 1 : 0)))
          .map(
            ([what, count]) =>
              `the keeper has ${count} descriptors of ${what}, and had ${before.get(what) ?? 0}`,
          ),
        ...readdirSync(this.home.fifos)
          .filter((name) => !name.startsWith('ready-'))
          .map((name) => `the pipe ${name} was not removed`),
        ...readdirSync(this.home.live).map((name) => `${name} was not cleared`),
      ]
    }
    // The keeper needs time to clean up after the last command.
    await until('nothing is left', () => look().length === 0).catch(() => {})
    return look()
  }

  /** OS processes, cgroups and files that remain after the last daemon. */
  async remains(keeper: KeeperIdentity | null): Promise<string[]> {
    const look = () => [
      ...(keeper !== null && isAlive(keeper) ? ['the keeper has not gone'] : []),
      ...cgroupsNamed(`reeve-${this.#id()}`).map((path) => `the cgroup ${path} was not removed`),
      ...readdirSync(this.home.fifos).map((name) => `the pipe ${name} was not removed`),
    ]
    await until('nothing is left', () => look().length === 0).catch(() => {})
    return look()
  }

  /** Errors after which a keeper went on. */
  complaints(): string[] {
    return readFileSync(this.home.keeper.log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('Went on after'))
  }

  async remove(): Promise<void> {
    for (const osPid of this.programs()) await endForCertain({ osPid, startTime: startTimeOf(osPid) })
    // By its command line: one that is just starting has no identity file yet.
    await until('no keeper is left', async () => {
      const left = keepersOf(this.home.folder)
      for (const one of left) await endForCertain(one)
      return left.length === 0
    })
    if (existsSync(this.home.identity)) removeCgroups(this.#id())
    rmSync(this.folder, { recursive: true, force: true })
  }

  #id(): string {
    return (JSON.parse(readFileSync(this.home.identity, 'utf8')) as { id: string }).id
  }
}
