import { setTimeout as pause } from 'node:timers/promises'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { Random } from '../simulation/random.ts'
import type { KillAt, Write } from './kill-at.ts'
import { KilledDaemons } from './killed-daemons.ts'
import { SoakFolder } from './soak-folder.ts'
import { withCleanUp } from './with-clean-up.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type SoakedStore = (typeof STORES)[number]

export interface KillSoakOptions {
  /** How many daemons are killed with `kill -9`, on all stores together. */
  readonly kills: number
  readonly stores: readonly SoakedStore[]
  readonly seed: number
  readonly say: (line: string) => void
}

export interface KillCounts {
  readonly kills: number
  /** Of these, between the decision and the commit of a write, or between the commit and its answer. */
  readonly killsAtWrites: number
}

/** The work of one soak on one store. */
export interface SoakedWork<Report> {
  /** Variables of the daemons. */
  env(): Promise<Readonly<Record<string, string>>>
  /** Works until `isOver`, and then brings the begun work to an end. */
  work(killing: Killing): Promise<void>
  /** Compares all effects, with a last daemon that is not killed. */
  look(killing: Killing): Promise<Report>
  /** For a line of progress. */
  progress(): string
  /** Releases what it holds, also after a failure. */
  close(): Promise<void>
}

interface KillTimes {
  /** The writes at which daemons die, each in turn, before and after its commit. */
  readonly writes: readonly Write[]
  /** One of so many daemons dies at a random moment. */
  readonly randomEvery: number
  /** A daemon that did not come to its write in this time is killed where it is. */
  readonly maxLifeMs: number
}

const PROGRESS_MS = 5_000
/** Of a daemon that dies at a random moment. */
const LIVES_MS = { least: 20, most: 1_500 }

/** Works on each store while its daemons are killed, with its share of the kills, and adds the reports up. */
export async function soakStores<Report extends object>(
  { stores, kills, seed, say }: KillSoakOptions,
  times: KillTimes,
  begin: (folder: SoakFolder, random: Random, store: SoakedStore) => SoakedWork<Report>,
): Promise<Report> {
  const reports: Report[] = []
  for (const [index, store] of stores.entries()) {
    const share =
      Math.floor(((index + 1) * kills) / stores.length) - Math.floor((index * kills) / stores.length)
    const random = new Random(seed + index)
    const folder = new SoakFolder('commands')
    const work = begin(folder, random, store)
    const killing = new Killing(folder, { ...times, kills: share, random: random.fork() })
    let server: PostgresServer | null = null
    reports.push(
      await withCleanUp(
        async () => {
          server = store === 'postgres' ? await startPostgres() : null
          const env = { ...(await work.env()), ...(server === null ? {} : { REEVE_STORE: server.url }) }
          const tell = (progress: string) => say(`${store}, ${progress}`)
          return killing.during(work, env, tell)
        },
        async () => {
          await killing.abandon()
          await work.close()
          await folder.remove()
          await server?.stop()
        },
      ),
    )
  }
  return reports.reduce(added)
}

/** The daemons of one soak, which are killed one after another. */
export class Killing {
  readonly #folder: SoakFolder
  readonly #options: KillTimes & { readonly kills: number; readonly random: Random }
  readonly #counts = { kills: 0, killsAtWrites: 0 }
  #daemons: KilledDaemons | null = null
  #isOver = false

  constructor(folder: SoakFolder, options: KillTimes & { readonly kills: number; readonly random: Random }) {
    this.#folder = folder
    this.#options = options
  }

  get counts(): KillCounts {
    return { ...this.#counts }
  }

  /** All daemons have been killed: no further work is begun. */
  get isOver(): boolean {
    return this.#isOver
  }

  get daemons(): KilledDaemons {
    if (this.#daemons === null) throw new Error('The soak has not begun')
    return this.#daemons
  }

  async during<Report>(
    soaked: SoakedWork<Report>,
    env: Readonly<Record<string, string>>,
    say: (progress: string) => void,
  ): Promise<Report> {
    this.#daemons = new KilledDaemons(this.#folder.folder, {
      REEVE_ENVIRONMENT: 'inherit',
      REEVE_SHELL: '/bin/sh',
      ...env,
    })
    const begun = Date.now()
    const telling = setInterval(
      () => say(`${this.#progress(Date.now() - begun)}; ${soaked.progress()}`),
      PROGRESS_MS,
    )
    try {
      const working = soaked.work(this)
      await Promise.race([this.#killAll(this.#daemons), working])
      this.#isOver = true
      await this.#daemons.start(null)
      await working
      return await soaked.look(this)
    } finally {
      this.#isOver = true
      clearInterval(telling)
    }
  }

  /** Stops the last daemon, and returns the problems of its home: live processes, remains, complaints in its log. */
  async problemsAtEnd(): Promise<readonly string[]> {
    const { live } = await this.daemons.call((reeve) => reeve.status())
    const keeper = this.#folder.keeper()
    await this.daemons.stop()
    const remains = await this.#folder.remains(keeper)
    return [
      ...(live > 0 ? [`${live} processes have not ended`] : []),
      ...remains,
      ...this.#folder.complaints(),
    ]
  }

  async abandon(): Promise<void> {
    this.#isOver = true
    await this.#daemons?.abandon()
  }

  async #killAll(daemons: KilledDaemons): Promise<void> {
    const { kills, maxLifeMs, random } = this.#options
    for (let number = 0; number < kills; number++) {
      const killAt = this.#killAtOf(number)
      await daemons.start(killAt)
      const { ended } = daemons
      const life = killAt === null ? random.between(LIVES_MS.least, LIVES_MS.most) : maxLifeMs
      const isDead = await Promise.race([ended.then(() => true), pause(life, false)])
      if (isDead) this.#counts.killsAtWrites += 1
      else await daemons.kill()
      this.#counts.kills += 1
    }
  }

  /** Null: at a random moment. */
  #killAtOf(number: number): KillAt | null {
    const { writes, randomEvery, random } = this.#options
    if (number % randomEvery === randomEvery - 1) return null
    const turn = number - Math.floor(number / randomEvery)
    const write = writes[Math.floor(turn / 2) % writes.length] ?? 'answer'
    return { write, when: turn % 2 === 0 ? 'before' : 'after', nth: random.between(1, 3) }
  }

  #progress(ms: number): string {
    const { kills, killsAtWrites } = this.#counts
    const killed = `${kills} of ${this.#options.kills} daemons killed, ${killsAtWrites} at writes`
    return `${Math.round(ms / 1000)} s: ${killed}`
  }
}

/** Adds counts up, and joins lists of defects. */
function added<Report extends object>(one: Report, other: Report): Report {
  const sums = Object.entries(one).map(([name, value]) => {
    const more: unknown = Object(other)[name]
    return [name, typeof value === 'number' ? value + Number(more) : [...value, ...Object(more)]]
  })
  return Object.fromEntries(sums)
}
