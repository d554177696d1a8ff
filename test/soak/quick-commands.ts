import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { connect } from '../../src/client/connect.ts'
import { detach } from '../../src/daemon/detach.ts'
import { down } from '../../src/daemon/down.ts'
import { homePaths } from '../../src/home/paths.ts'
import { builtFixture } from '../built-file.ts'
import { until } from '../keeper/client.ts'
import { withCleanUp } from './with-clean-up.ts'

export interface QuickCommandsOptions {
  readonly commands: number
  /** A folder for heap snapshots of daemon and keeper, taken at the first and the last report. */
  readonly snapshots?: string
  readonly say: (line: string) => void
}

/** In MB: the resident set, and the used heap after a collection. */
export interface Memory {
  readonly rss: number
  readonly heap: number
}

export interface QuickCommandsReport {
  readonly ended: number
  readonly daemon: readonly Memory[]
  readonly keeper: readonly Memory[]
  readonly problems: readonly string[]
}

const EVERY = 1_000
const AT_ONCE = 8
const MB = 1024 * 1024

/** Runs commands that end at once, and reports the memory of daemon and keeper after every thousand. */
export async function soakQuickCommands(options: QuickCommandsOptions): Promise<QuickCommandsReport> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-soak-'))
  const home = join(folder, 'home')
  const probe = options.snapshots ?? folder
  const env = {
    ...process.env,
    REEVE_HOME: home,
    REEVE_ENVIRONMENT: 'inherit',
    REEVE_SHELL: '/bin/sh',
    REEVE_LISTEN: 'off',
    REEVE_MEMORY_PROBE: probe,
  }
  // Starts the daemon as the command line does.
  const starting = detach({ home, env, program: builtFixture('probed-reeve-up') })
  let reeve: Reeve | undefined
  return withCleanUp(
    async () => {
      const daemon = await starting
      reeve = await connect({ socket: homePaths(home).socket })
      const keeper = (await reeve.status()).keeper?.osPid ?? 0
      return new QuickCommands(options, reeve, probe, [daemon.osPid, keeper]).run()
    },
    async () => {
      const isStarted = await starting.then(
        () => true,
        () => false,
      )
      await reeve?.close()
      if (isStarted) await down({ home })
      rmSync(folder, { recursive: true, force: true })
    },
  )
}

class QuickCommands {
  readonly #options: QuickCommandsOptions
  readonly #reeve: Pick<Reeve, 'spawn' | 'wait'>
  readonly #probe: string
  readonly #osPids: readonly [daemon: number, keeper: number]
  readonly #memory = { daemon: [] as Memory[], keeper: [] as Memory[] }
  readonly #problems: string[] = []
  #ended = 0

  constructor(
    options: QuickCommandsOptions,
    reeve: Pick<Reeve, 'spawn' | 'wait'>,
    probe: string,
    osPids: readonly [daemon: number, keeper: number],
  ) {
    this.#options = options
    this.#reeve = reeve
    this.#probe = probe
    this.#osPids = osPids
  }

  async run(): Promise<QuickCommandsReport> {
    await this.#look()
    while (this.#ended < this.#options.commands) {
      const next = Array.from({ length: Math.min(EVERY, this.#options.commands - this.#ended) }).values()
      const runSome = async () => {
        for (const _ of next) await this.#runOne()
      }
      await Promise.all(Array.from({ length: AT_ONCE }, runSome))
      await this.#look()
    }
    return { ended: this.#ended, ...this.#memory, problems: this.#problems }
  }

  async #runOne(): Promise<void> {
    const { record } = await this.#reeve.spawn({ kind: 'command', spec: { argv: ['true'] } })
    const waited = await this.#reeve.wait({ pid: record.pid, timeoutMs: 60_000 })
    if (waited.type !== 'ended' || waited.record.outcome?.status !== 'completed')
      this.#problems.push(`${record.pid}: ${JSON.stringify(waited)}`)
    this.#ended += 1
  }

  async #look(): Promise<void> {
    const { commands, snapshots, say } = this.#options
    const [daemon, keeper] = [
      await memoryOf(this.#probe, this.#osPids[0]),
      await memoryOf(this.#probe, this.#osPids[1]),
    ]
    this.#memory.daemon.push(daemon)
    this.#memory.keeper.push(keeper)
    say(`${this.#ended} commands: daemon ${textOf(daemon)}; keeper ${textOf(keeper)}`)
    if (snapshots === undefined || (this.#ended > EVERY && this.#ended < commands)) return
    for (const osPid of this.#osPids) {
      writeFileSync(join(this.#probe, `${osPid}.snapshot`), '')
      await until('the snapshot is written', () => !existsSync(join(this.#probe, `${osPid}.snapshot`)))
    }
  }
}

async function memoryOf(folder: string, osPid: number): Promise<Memory> {
  const answer = join(folder, `${osPid}.json`)
  rmSync(answer, { force: true })
  writeFileSync(join(folder, `${osPid}.ask`), '')
  const text = await until(`PID ${osPid} says what it has in memory`, () => readIf(answer))
  const { rss, heapUsed } = JSON.parse(text) as NodeJS.MemoryUsage
  return { rss: Math.round(rss / MB), heap: Math.round((10 * heapUsed) / MB) / 10 }
}

function readIf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function textOf({ rss, heap }: Memory): string {
  return `${rss} MB, heap ${heap} MB`
}
