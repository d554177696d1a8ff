import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BoundedMap } from '../../base/bounded-map.ts'
import { codeOf } from '../../base/error-text.ts'
import type { Pid } from '../../core/process/pid.ts'
import { orMissing } from './missing.ts'
import { folderOf } from './pid-folder.ts'

/** How many readers' positions are kept for each process: each is a file, and a client may make up any number of readers. */
const MAX_READERS = 32
const MAX_UNWRITTEN = 1_000
const READER_FILE = /^r[0-9a-f]{32}$/

/**
 * How far each session, and each reader of one, has polled each process: a small file each. They are no facts about a process,
 * so they are not in the store, and are not flushed: a lost cursor makes a session see some output again, and lose none.
 */
export class Cursors {
  readonly #folder: string
  /** Positions that a full disk did not take, by file: a reader goes on all the same. The oldest are dropped. */
  readonly #unwritten = new BoundedMap<string, number>(MAX_UNWRITTEN)

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Null if this session has never polled this process. */
  async get(pid: Pid, session: string): Promise<number | null> {
    return this.#offsetIn(this.#file(pid, session))
  }

  /** Null if this reader has never polled this process, or so many others have since. */
  async getReader(pid: Pid, session: string, reader: string): Promise<number | null> {
    return this.#offsetIn(this.#readerFile(pid, session, reader))
  }

  async set(pid: Pid, session: string, offset: number): Promise<void> {
    await this.#write(pid, this.#file(pid, session), offset)
  }

  /** Forgets the reader that has not polled this process for the longest time, if there are too many. */
  async setReader(pid: Pid, session: string, reader: string, offset: number): Promise<void> {
    const file = this.#readerFile(pid, session, reader)
    const isNew = (await orMissing(stat(file))) === null
    await this.#write(pid, file, offset)
    if (isNew) await this.#dropOldestReaders(pid)
  }

  async forget(pid: Pid): Promise<void> {
    await rm(folderOf(this.#folder, pid), { recursive: true, force: true })
  }

  async #offsetIn(file: string): Promise<number | null> {
    return this.#unwritten.get(file) ?? offsetIn(file)
  }

  async #write(pid: Pid, file: string, offset: number): Promise<void> {
    try {
      await this.#writeFile(pid, file, offset)
      this.#unwritten.delete(file)
    } catch (error) {
      if (!isFull(error)) throw error
      this.#unwritten.set(file, offset)
    }
  }

  async #writeFile(pid: Pid, file: string, offset: number): Promise<void> {
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

  async #dropOldestReaders(pid: Pid): Promise<void> {
    const folder = folderOf(this.#folder, pid)
    const names = ((await orMissing(readdir(folder))) ?? []).filter((name) => READER_FILE.test(name))
    if (names.length <= MAX_READERS) return
    const found = await Promise.all(
      names.map(async (name) => {
        const file = join(folder, name)
        return { file, movedAt: (await orMissing(stat(file)))?.mtimeMs ?? 0 }
      }),
    )
    const oldest = found.sort((a, b) => b.movedAt - a.movedAt).slice(MAX_READERS)
    await Promise.all(oldest.map(({ file }) => rm(file, { force: true })))
  }

  /** Users choose the ids of sessions and readers, so a file is named by a hash of them. */
  #file(pid: Pid, session: string): string {
    return join(folderOf(this.#folder, pid), hashOf(session))
  }

  #readerFile(pid: Pid, session: string, reader: string): string {
    return join(folderOf(this.#folder, pid), `r${hashOf(`${session}\n${reader}`)}`)
  }
}

function isFull(error: unknown): boolean {
  return codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT'
}

async function offsetIn(file: string): Promise<number | null> {
  const text = await orMissing(readFile(file, 'utf8'))
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
