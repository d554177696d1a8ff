import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { commandSpecOf } from '../command-spec.ts'
import { orMissing } from '../output/missing.ts'
import { fileNameOf, type PassedBy, pidIn, writePrivately } from './registration-file.ts'

type Values = Readonly<Record<string, string>>

/**
 * Values that clients pass for names in `passEnv`: one file for each registration, readable by its user alone, like the
 * output log in which the command may print them. They are in no record and no event. A file is there for as long as the
 * output is: the values must stay masked, and a restart needs them again. Secrets of the caller's environment that the command
 * has printed are added at its end.
 */
export class PassedSecrets {
  readonly #folder: string
  readonly #turns = new Map<string, Promise<void>>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Runs `act` while no other act with the same registration runs: repeats of a request are registered in turn. */
  async inTurn<Answer>(registrations: readonly PassedBy[], act: () => Promise<Answer>): Promise<Answer> {
    const [file, ...others] = [...new Set(registrations.map((one) => this.#file(one)))].sort()
    if (file === undefined) return act()
    const before = this.#turns.get(file) ?? Promise.resolve()
    const turn = Promise.withResolvers<void>()
    const last = before.then(() => turn.promise)
    this.#turns.set(file, last)
    await before
    try {
      const rest = registrations.filter((one) => others.includes(this.#file(one)))
      return await this.inTurn(rest, act)
    } finally {
      turn.resolve()
      if (this.#turns.get(file) === last) this.#turns.delete(file)
    }
  }

  /** On disk, whole, when it resolves. False if there are values already: the same request was made before. */
  async retain(registration: PassedBy, values: Values): Promise<boolean> {
    const file = this.#file(registration)
    if ((await orMissing(stat(file))) !== null) return false
    await writePrivately(this.#folder, fileNameOf(registration), JSON.stringify(values))
    return true
  }

  /** More values, for masking alone: those that are there stay. */
  async add(registration: PassedBy, values: Values): Promise<void> {
    const all = { ...values, ...(await this.#read(registration)) }
    await writePrivately(this.#folder, fileNameOf(registration), JSON.stringify(all))
  }

  /** All values that are to be masked in its output, also those that its spec does not name. */
  async masked(registration: PassedBy): Promise<string[]> {
    return Object.values((await this.#read(registration)) ?? {})
  }

  /** Those that its spec names. */
  async of(
    record: PassedBy & Pick<ProcessRecord, 'spec'> & Partial<Pick<ProcessRecord, 'effectiveSpec'>>,
  ): Promise<Values> {
    return named(record, (await this.#read(record)) ?? {})
  }

  /** A restart has the values of the process that it follows, if the caller that registered it may execute that one. */
  async ofStarting(record: ProcessRecord, kernel: Kernel): Promise<Values> {
    const own = await this.#read(record)
    if (own !== null) return named(record, own)
    const before = await this.#before(record, kernel)
    if (before === null) return {}
    const values = named(record, before)
    if (Object.keys(values).length > 0) await this.retain(record, values)
    return values
  }

  /** The values of this registration alone: it was refused, or is a repeat. */
  async drop(registration: PassedBy): Promise<void> {
    await rm(this.#file(registration), { force: true })
  }

  async forget(pids: readonly Pid[]): Promise<void> {
    const gone = new Set<string>(pids)
    for (const name of await this.#names())
      if (gone.has(pidIn(name))) await rm(join(this.#folder, name), { force: true })
  }

  /**
   * Before a daemon starts any command: removes what one that crashed wrote for a process that was never registered, or is
   * pruned.
   */
  async sweep(kernel: Kernel): Promise<void> {
    for (const name of await this.#names()) {
      const row = await kernel.edges.store.ask({ ask: 'process', pid: pidIn(name) })
      if (row === null || fileNameOf(row.record) !== name) await rm(join(this.#folder, name), { force: true })
    }
  }

  async #names(): Promise<readonly string[]> {
    return (await orMissing(readdir(this.#folder))) ?? []
  }

  /** A process that never began has no values of its own yet: then the values of its predecessor count. */
  async #before(record: ProcessRecord, kernel: Kernel): Promise<Values | null> {
    let { originator, restartOf } = record
    for (let steps = 0; restartOf !== null && steps < MAX_RESTARTS; steps++) {
      const row = await kernel.edges.store.ask({ ask: 'process', pid: restartOf })
      if (row === null) return null
      const resource = { type: 'process', record: row.record } as const
      if (kernel.edges.authorize(originator, 'execute', resource) !== undefined) return null
      const values = await this.#read(row.record)
      if (values !== null) return values
      ;({ originator, restartOf } = row.record)
    }
    return null
  }

  async #read(registration: PassedBy): Promise<Values | null> {
    const text = await orMissing(readFile(this.#file(registration), 'utf8'))
    return text === null ? null : (JSON.parse(text) as Values)
  }

  #file(registration: PassedBy): string {
    return join(this.#folder, fileNameOf(registration))
  }
}

/** How many processes that never began may stand between a restart and the values that it gets. */
const MAX_RESTARTS = 100

function named(record: Parameters<typeof commandSpecOf>[0], values: Values): Values {
  const { passEnv = [] } = commandSpecOf(record)
  return Object.fromEntries(Object.entries(values).filter(([name]) => passEnv.includes(name)))
}
