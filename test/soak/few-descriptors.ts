import type { InputOf } from 'reeve'
import { Random } from '../simulation/random.ts'
import { Daemons, Refused } from './daemons.ts'
import { SoakFolder } from './soak-folder.ts'
import { withCleanUp } from './with-clean-up.ts'

export interface FewDescriptorsOptions {
  readonly minutes: number
  readonly seed: number
  readonly say: (line: string) => void
}

export interface FewDescriptorsReport {
  readonly begun: number
  readonly refused: number
  readonly killed: number
  readonly mostAtOnce: number
  readonly problems: readonly string[]
}

/** The descriptor limit of daemon and keeper, each. */
export const OPEN_FILES = 256

type Spec = Extract<InputOf<'spawn'>, { kind: 'command' }>['spec']

const SPECS: readonly { readonly spec: Spec; readonly weight: number }[] = [
  { spec: { argv: ['sleep', '1000'] }, weight: 6 },
  { spec: { run: 'while :; do echo tick; sleep 3; done' }, weight: 2 },
  { spec: { run: 'echo out; echo err >&2; exec sleep 1000', output: 'tagged' }, weight: 1 },
  { spec: { argv: ['cat'], stdin: 'pipe' }, weight: 1 },
  { spec: { argv: ['sleep', '1000'], pty: true }, weight: 1 },
  { spec: { run: 'echo quick' }, weight: 2 },
]
const WORKERS = 8
const GRACE_MS = 1_000
const END_MS = 60_000

/**
 * Starts more commands than daemon and keeper have descriptors for: commands beyond the limit are refused with
 * `too_many_commands`, and running ones can always be killed.
 */
export async function soakFewDescriptors(options: FewDescriptorsOptions): Promise<FewDescriptorsReport> {
  const soaked = new SoakFolder()
  const daemons = new Daemons(soaked.store, soaked.commands, { openFiles: OPEN_FILES })
  return withCleanUp(
    () => new Run(options, soaked, daemons).whole(),
    async () => {
      await daemons.end()
      await soaked.remove()
    },
  )
}

class Run {
  readonly #options: FewDescriptorsOptions
  readonly #soaked: SoakFolder
  readonly #daemons: Daemons
  readonly #random: Random
  readonly #live = new Set<string>()
  readonly #counts = { begun: 0, refused: 0, killed: 0, mostAtOnce: 0 }
  readonly #problems: string[] = []

  constructor(options: FewDescriptorsOptions, soaked: SoakFolder, daemons: Daemons) {
    this.#options = options
    this.#soaked = soaked
    this.#daemons = daemons
    this.#random = new Random(options.seed)
  }

  async whole(): Promise<FewDescriptorsReport> {
    const until = Date.now() + this.#options.minutes * 60_000
    await this.#daemons.ready()
    for (let round = 1; round === 1 || Date.now() < until; round++) {
      await Promise.all(Array.from({ length: WORKERS }, () => this.#spawnUntilFull(until)))
      await this.#killSome()
      await this.#killAll()
      this.#options.say(`round ${round}: ${this.#summary()}`)
    }
    for (const osPid of this.#soaked.programs()) this.#problems.push(`the program with PID ${osPid} lives on`)
    for (const trouble of this.#daemons.troubles) this.#problems.push(trouble)
    this.#problems.push(...this.#soaked.complaints())
    return { ...this.#counts, problems: this.#problems }
  }

  /** Spawns until a few spawns in a row were refused. */
  async #spawnUntilFull(until: number): Promise<void> {
    for (let refusals = 0; refusals < 3 && Date.now() < until + 60_000; ) {
      const { spec } = this.#random.weighted(SPECS, ({ weight }) => weight)
      try {
        const { record } = await this.#daemons.call('spawn', { kind: 'command', spec, lifetime: 'detached' })
        this.#counts.begun += 1
        if (record.outcome?.reason === 'failed_start')
          this.#problems.push(`${record.pid} could not be started: ${JSON.stringify(record.outcome.result)}`)
        this.#live.add(record.pid)
        this.#counts.mostAtOnce = Math.max(this.#counts.mostAtOnce, this.#live.size)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        refusals += 1
        this.#counts.refused += 1
        if (error.code !== 'too_many_commands') this.#problems.push(`a spawn was refused: ${error.message}`)
      }
      if (this.#random.chance(0.1)) await this.#killOne()
    }
  }

  async #killSome(): Promise<void> {
    for (let count = this.#random.between(1, 10); count > 0; count--) await this.#killOne()
  }

  async #killOne(): Promise<void> {
    if (this.#live.size === 0) return
    const pid = this.#random.pick([...this.#live])
    this.#live.delete(pid)
    try {
      await this.#daemons.call('kill', { pid, graceMs: GRACE_MS })
      await this.#hasEnded(pid)
      this.#counts.killed += 1
    } catch (error) {
      this.#problems.push(`${pid} could not be killed: ${String(error)}`)
    }
  }

  async #killAll(): Promise<void> {
    const report = await this.#daemons.call('killAll', { graceMs: GRACE_MS })
    for (const { pid, message } of report.failed)
      this.#problems.push(`${pid} could not be killed: ${message}`)
    for (const pid of report.stale) this.#problems.push(`${pid} is stale`)
    // A busy machine may take longer than a kill waits.
    for (const pid of report.asked) await this.#hasEnded(pid)
    const { processes } = await this.#daemons.call('list', {})
    for (const { record } of processes)
      this.#problems.push(`${record.pid} is ${record.status} after all were killed`)
    this.#counts.killed += report.signalled.length
    this.#live.clear()
  }

  async #hasEnded(pid: string): Promise<void> {
    const { type } = await this.#daemons.call('wait', { pid, timeoutMs: END_MS })
    if (type !== 'ended') this.#problems.push(`${pid} was killed, and has not ended`)
  }

  #summary(): string {
    const { begun, refused, killed, mostAtOnce } = this.#counts
    return `${begun} begun, ${refused} refused, ${killed} killed, ${mostAtOnce} at once, ${this.#problems.length} problems`
  }
}
