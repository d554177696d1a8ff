import { execFile } from 'node:child_process'
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, messageOf } from '../../base/error-text.ts'
import { hasRoom } from '../../output-log/has-room.ts'
import { IndexWriter } from '../../output-log/index-writer.ts'
import { HOLES_NAME, segmentName } from '../../output-log/log-format.ts'
import type { OutputCaps } from '../protocol/spawn-plan.ts'
import type { ProgramLog } from './program-log.ts'

/**
 * The log of a program that writes it itself, into a single segment. The keeper only measures its length, and frees the middle of
 * it in place.
 */
export class DirectLog implements ProgramLog {
  /** The segment, opened for appending: the program's output. */
  readonly fd: number
  readonly isHoldingBack = false
  readonly heldBack = null
  readonly isWritten = true
  readonly #folder: string
  readonly #caps: OutputCaps
  readonly #index: IndexWriter
  readonly #trouble: (message: string) => void
  #end = 0
  #timeAt = 0
  /** Only whole blocks are freed, behind the head. */
  readonly #headEnd: number
  #freedTo: number
  #isFreeing = false
  #canFree = true
  #saidSo = false
  #isClosed = false

  constructor(folder: string, caps: OutputCaps, trouble: (message: string) => void) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    this.#caps = caps
    this.#index = new IndexWriter(folder)
    this.#trouble = trouble
    this.#headEnd = Math.ceil(caps.headBytes / BLOCK) * BLOCK
    this.#freedTo = freedBefore(folder) ?? this.#headEnd
    this.fd = openSync(join(folder, segmentName(0)), 'a', 0o600)
    this.#end = fstatSync(this.fd).size
  }

  get end(): number {
    return this.#end
  }

  get path(): string {
    return join(this.#folder, segmentName(0))
  }

  get hasRoom(): boolean {
    return hasRoom(this.#folder, this.#caps.minFreeBytes)
  }

  /** Whether the log has grown since the last check. A program that truncates its log shortens it. */
  look(): boolean {
    const { size } = fstatSync(this.fd)
    if (size === this.#end) return false
    if (size < this.#end) this.#startOver()
    const now = Date.now()
    if (size > this.#end && Math.abs(now - this.#timeAt) >= TIME_EVERY_MS) {
      this.#note(now)
      this.#timeAt = now
    }
    this.#end = size
    this.#freeMiddle()
    return true
  }

  /** The program wrote it, so there is nothing to wait for. */
  async flushed(): Promise<void> {}

  /** No terminal writes directly. */
  size(): void {}

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.fd)
    this.#index.close()
  }

  /** Noted at the last known end: the bytes behind it came between then and now. */
  #note(now: number): void {
    try {
      this.#index.write({ offset: this.#end, sort: 'time', value: now })
    } catch (error) {
      this.#trouble(`The times of its output can't be written: ${messageOf(error)}.`)
    } finally {
      // The next entry comes a second later at the earliest, and descriptors are scarce.
      this.#index.close()
    }
  }

  #freeMiddle(): void {
    const { tailBytes, segmentBytes } = this.#caps
    const from = this.#freedTo
    const to = Math.floor((this.#end - tailBytes) / BLOCK) * BLOCK
    if (this.#isFreeing || !this.#canFree || to - from < segmentBytes) return
    try {
      this.#writeHoles(to)
    } catch (error) {
      // The log was deleted while descendants still write: no reader will see their output.
      if (codeOf(error) === 'ENOENT') ftruncateSync(this.fd, 0)
      else this.#cannotFree(error)
      return
    }
    this.#isFreeing = true
    this.#freedTo = to
    execFile('fallocate', ['-p', '-o', String(from), '-l', String(to - from), this.path], (error) => {
      this.#isFreeing = false
      // It may have grown by more than a segment since, including the last bytes of its program.
      if (error === null) this.#freeMiddle()
      else {
        this.#canFree = false
        this.#cannotFree(error)
      }
    })
  }

  /** After a truncation, new bytes are written where a hole was. */
  #startOver(): void {
    rmSync(join(this.#folder, HOLES_NAME), { force: true })
    this.#freedTo = this.#headEnd
  }

  /** The hole is recorded before it is made: unrecorded ones would read as zeros. There is one hole, and it grows. */
  #writeHoles(to: number): void {
    const path = join(this.#folder, HOLES_NAME)
    writeFileSync(`${path}.new`, `${this.#headEnd} ${to}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }

  #cannotFree(error: unknown): void {
    if (this.#saidSo) return
    this.#saidSo = true
    this.#trouble(`The middle of its output can't be freed, and stays on disk: ${messageOf(error)}.`)
  }
}

const BLOCK = 4096
const TIME_EVERY_MS = 1000

function freedBefore(folder: string): number | undefined {
  try {
    const [, to] = readFileSync(join(folder, HOLES_NAME), 'utf8').trim().split(' ')
    return to === undefined ? undefined : Number(to)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
