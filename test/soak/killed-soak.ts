import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../postgres-server.ts'
import { Random } from '../simulation/random.ts'
import type { KillAt } from './kill-at.ts'
import { KilledDaemons } from './killed-daemons.ts'
import { SoakFolder } from './soak-folder.ts'
import { withCleanUp } from './with-clean-up.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type SoakedStore = (typeof STORES)[number]

export interface KillOptions {
  /** How many daemons are killed with `kill -9`, on all stores together. */
  readonly kills: number
  readonly stores: readonly SoakedStore[]
  readonly seed: number
  readonly say: (line: string) => void
}

/** Of the daemons that were killed. */
export type KillCounts = {
  readonly kills: number
  /** Of these, between the decision and the commit of a write, or between the commit and its answer. */
  readonly killsAtWrites: number
}

/** How the daemons of a soak are killed. */
export interface Killing {
  /** Where the daemon with this number dies; null: at a random moment. */
  readonly killAt: (number: number, random: Random) => KillAt | null
  /** A daemon that did not come to its write in this time is killed where it is. */
  readonly maxLifeMs: number
}

const PROGRESS_MS = 5_000
/** Of a daemon that dies at a random moment. */
const LIVES_MS = { least: 20, most: 1_500 }

/** Soaks each store with its share of the kills, and cleans up after it. */
export async function soakEach<Report>(
  options: KillOptions,
  soakStore: (soak: KilledSoak) => Promise<Report>,
): Promise<readonly Report[]> {
  const { stores, kills } = options
  const reports: Report[] = []
  for (const [index, store] of stores.entries()) {
    const share =
      Math.floor(((index + 1) * kills) / stores.length) - Math.floor((index * kills) / stores.length)
    const soak = new KilledSoak(store, { ...options, kills: share, seed: options.seed + index })
    reports.push(
      await withCleanUp(
        () => soakStore(soak),
        () => soak.cleanUp(),
      ),
    )
  }
  return reports
}

/** One store, and the daemons over it that are killed one after the other while clients work. */
export class KilledSoak {
  readonly store: SoakedStore
  readonly folder = new SoakFolder('commands')
  readonly random: Random
  readonly #options: KillOptions
  readonly #counts = { kills: 0, killsAtWrites: 0 }
  readonly #cleanUps: (() => Promise<unknown>)[] = []
  #daemons: KilledDaemons | null = null
  #isOver = false

  constructor(store: SoakedStore, options: KillOptions) {
    this.store = store
    this.random = new Random(options.seed)
    this.#options = options
  }

  /** The daemons, each the next after the one that was killed. */
  get daemons(): KilledDaemons {
    if (this.#daemons === null) throw new Error('The soak has not begun')
    return this.#daemons
  }

  /** No daemon is killed any more: clients finish what they began. */
  get isOver(): boolean {
    return this.#isOver
  }

  get counts(): KillCounts {
    return { ...this.#counts }
  }

  /** Done at the end, the last first. */
  onEnd(cleanUp: () => Promise<unknown>): void {
    this.#cleanUps.push(cleanUp)
  }

  /** Kills daemons while the work goes on. The last one lives until the work is done. */
  async run(
    work: () => Promise<unknown>,
    killing: Killing,
    {
      env = {},
      progress,
    }: { readonly env?: Readonly<Record<string, string>>; readonly progress: () => string },
  ): Promise<void> {
    this.#daemons = new KilledDaemons(this.folder.folder, {
      REEVE_ENVIRONMENT: 'inherit',
      REEVE_SHELL: '/bin/sh',
      ...env,
      ...(await this.#storeEnv()),
    })
    const begun = Date.now()
    const telling = setInterval(() => this.#tell(Date.now() - begun, progress()), PROGRESS_MS)
    try {
      const working = work()
      await Promise.race([this.#killDaemons(killing), working])
      this.#isOver = true
      await this.daemons.start(null)
      await working
    } finally {
      this.#isOver = true
      clearInterval(telling)
    }
  }

  /** Stops the last daemon. Returns what is left behind, and what went wrong without a test noticing. */
  async stop(): Promise<readonly string[]> {
    const { live } = await this.daemons.call((reeve) => reeve.status())
    const keeper = this.folder.keeper()
    await this.daemons.stop()
    return [
      ...(live > 0 ? [`${live} processes have not ended`] : []),
      ...(await this.folder.remains(keeper)),
      ...this.folder.complaints(),
    ]
  }

  async cleanUp(): Promise<void> {
    this.#isOver = true
    await this.#daemons?.abandon()
    await this.folder.remove()
    for (const cleanUp of this.#cleanUps.toReversed()) await cleanUp()
  }

  async #storeEnv(): Promise<Readonly<Record<string, string>>> {
    if (this.store !== 'postgres') return {}
    const server = await startPostgres()
    this.onEnd(() => server.stop())
    return { REEVE_STORE: server.url }
  }

  async #killDaemons({ killAt, maxLifeMs }: Killing): Promise<void> {
    const random = this.random.fork()
    for (let number = 0; number < this.#options.kills; number++) {
      const write = killAt(number, random)
      await this.daemons.start(write)
      const { ended } = this.daemons
      const life = write === null ? random.between(LIVES_MS.least, LIVES_MS.most) : maxLifeMs
      const isDead = await Promise.race([ended.then(() => true), pause(life, false)])
      if (isDead) this.#counts.killsAtWrites += 1
      else await this.daemons.kill()
      this.#counts.kills += 1
    }
  }

  #tell(ms: number, progress: string): void {
    const { kills, killsAtWrites } = this.#counts
    const killed = `${kills} of ${this.#options.kills} daemons killed, ${killsAtWrites} at writes`
    this.#options.say(`${this.store}, ${Math.round(ms / 1000)} s: ${killed}; ${progress}`)
  }
}

/** The counts of two reports are added, and their lists joined. */
export function merged<Report extends { readonly [name: string]: number | readonly string[] }>(
  one: Report,
  other: Report,
): Report {
  const sums = Object.entries(one).map(([name, value]) => {
    const more = other[name]
    return [
      name,
      typeof value === 'number' ? value + Number(more) : [...value, ...(Array.isArray(more) ? more : [])],
    ]
  })
  return Object.fromEntries(sums) as Report
}
