import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { orMissing } from '../output/missing.ts'
import { folderOf } from '../output/pid-folder.ts'

type Values = Readonly<Record<string, string>>

/**
 * Values that clients pass for names in `passEnv`: one file for each process, readable by its user alone, like the output
 * log in which the command may print them. They are in no record and no event. A file is there for as long as the output
 * is: the values must stay masked, and a restart needs them again.
 */
export class PassedSecrets {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Before the process is registered. False if it has values already: the same request was made before. */
  async keep(pid: Pid, values: Values): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    try {
      await writeFile(this.#file(pid), JSON.stringify(values), { mode: 0o600, flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }

  async of(pid: Pid): Promise<Values> {
    return (await this.#read(pid)) ?? {}
  }

  /** A restart has the values of the process that it follows. */
  async ofStarting({ pid, restartOf }: Pick<ProcessRecord, 'pid' | 'restartOf'>): Promise<Values> {
    const own = await this.#read(pid)
    const before = own === null && restartOf !== null ? await this.#read(restartOf) : null
    if (before !== null) await this.keep(pid, before)
    return own ?? before ?? {}
  }

  async forget(pid: Pid): Promise<void> {
    await rm(this.#file(pid), { force: true })
  }

  async #read(pid: Pid): Promise<Values | null> {
    const text = await orMissing(readFile(this.#file(pid), 'utf8'))
    return text === null ? null : (JSON.parse(text) as Values)
  }

  #file(pid: Pid): string {
    return folderOf(this.#folder, pid)
  }
}
