import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pid } from '../../core/process/pid.ts'
import { orMissing } from './missing.ts'
import { folderOf } from './pid-folder.ts'

/**
 * How far each session has polled each process: a small file each. They are no facts about a process, so they are not in
 * the store, and are not flushed: a cursor that a power cut took makes a session see some output again, and lose none.
 */
export class Cursors {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Null if this session has never polled this process. */
  async get(pid: Pid, session: string): Promise<number | null> {
    const text = await orMissing(readFile(this.#file(pid, session), 'utf8'))
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
  }

  async set(pid: Pid, session: string, offset: number): Promise<void> {
    const file = this.#file(pid, session)
    const fresh = `${file}.${randomUUID()}`
    await mkdir(folderOf(this.#folder, pid), { recursive: true, mode: 0o700 })
    try {
      // Missing: the process was forgotten in between, and its cursors with it.
      const isMade = await orMissing(
        writeFile(fresh, String(offset), { mode: 0o600, flag: 'wx' }).then(() => true),
      )
      if (isMade) await orMissing(rename(fresh, file))
    } catch (error) {
      await rm(fresh, { force: true })
      throw error
    }
  }

  async forget(pid: Pid): Promise<void> {
    await rm(folderOf(this.#folder, pid), { recursive: true, force: true })
  }

  /** A session's id is its user's, and may be anything. */
  #file(pid: Pid, session: string): string {
    const name = createHash('sha256').update(session).digest('hex').slice(0, 32)
    return join(folderOf(this.#folder, pid), name)
  }
}
