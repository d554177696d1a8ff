import { mkdirSync, statfsSync } from 'node:fs'
import type { OutputCaps } from '../protocol/messages.ts'
import { IndexWriter } from './index-writer.ts'
import { Segments } from './segments.ts'

export type Stream = 'stdout' | 'stderr'

/** What the owner of a log hears of it. */
export interface LogEvents {
  /** Everything that was held is on disk: the program may go on. */
  flows(): void
  trouble(message: string): void
}

/**
 * The output log of one program, as its writer sees it.
 *
 * It either *flows*, and each chunk is in the page cache when `append` returns, or it *holds*: the disk did not take a chunk,
 * or is nearly full. While it holds, chunks wait in memory and `append` answers false: whoever feeds the log then stops
 * reading from the program. So the most that waits is what one reader has in its hands, and nothing is lost.
 *
 * | state | append                         | retry                                   |
 * | flows | written, or kept and → holds   | –                                       |
 * | holds | kept                           | all written and room → flows, else wait |
 */
export class OutputLog {
  readonly #folder: string
  readonly #caps: OutputCaps
  readonly #events: LogEvents
  readonly #segments: Segments
  readonly #index: IndexWriter
  readonly #held: { stream: Stream | null; chunk: Buffer }[] = []
  #heldBytes = 0
  #holds = false
  #retry: NodeJS.Timeout | null = null
  #retryMs = FIRST_RETRY_MS
  #closing = false
  #timeAt = 0
  #stream: Stream | null = null
  #uncheckedBytes = 0
  #whenFlowing: (() => void)[] = []

  constructor(folder: string, caps: OutputCaps, events: LogEvents) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
    this.#caps = caps
    this.#events = events
    this.#segments = new Segments(folder, caps)
    this.#index = new IndexWriter(folder)
  }

  /** The length of the log, with what waits to be written. */
  get end(): number {
    return this.#segments.end + this.#heldBytes
  }

  /** Whether all that was appended is on disk. */
  get isWritten(): boolean {
    return this.#heldBytes === 0
  }

  /** True while the program may go on. The chunk may be used again as soon as this returns. */
  append(chunk: Buffer, stream: Stream | null): boolean {
    if (this.#holds) {
      this.#keep(chunk, stream)
      return false
    }
    const written = this.#write(chunk, stream)
    if (written < chunk.length) this.#keep(chunk.subarray(written), stream)
    return !this.#holds
  }

  /** The terminal has this size from here on. */
  size(cols: number, rows: number): void {
    this.#index.write({ offset: this.end, sort: 'size', value: cols * 65_536 + rows })
  }

  /** When all that was appended is on disk, or after `withinMs`. */
  async flushed(withinMs: number): Promise<void> {
    if (this.#heldBytes === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#whenFlowing.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** No more comes. What is still held goes on being tried. */
  close(): void {
    this.#closing = true
    if (this.#heldBytes === 0) this.#release()
  }

  /** How much of it the disk took. What it did not take is the reason why the log holds. */
  #write(chunk: Buffer, stream: Stream | null): number {
    let written = 0
    try {
      this.#note(stream)
      while (written < chunk.length) written += this.#segments.write(chunk, written)
    } catch (error) {
      this.#hold(`Its output can't be written: ${messageOf(error)}. It is held back until that works again.`)
      return written
    }
    this.#uncheckedBytes += written
    if (this.#uncheckedBytes >= CHECK_DISK_BYTES && !this.#hasRoom())
      this.#hold(`The disk of ${this.#folder} is nearly full. It is held back until there is space again.`)
    return written
  }

  /** Says in the index when, and from which stream, the bytes come that are about to be written. */
  #note(stream: Stream | null): void {
    const now = Date.now()
    const isDue = Math.abs(now - this.#timeAt) >= TIME_EVERY_MS
    if (!isDue && stream === this.#stream) return
    this.#index.write({ offset: this.#segments.end, sort: stream ?? 'time', value: now })
    this.#timeAt = now
    this.#stream = stream
  }

  #keep(chunk: Buffer, stream: Stream | null): void {
    this.#held.push({ stream, chunk: Buffer.from(chunk) })
    this.#heldBytes += chunk.length
  }

  #hold(message: string): void {
    if (!this.#holds) this.#events.trouble(message)
    this.#holds = true
    this.#retry ??= setTimeout(() => this.#tryAgain(), this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS)
  }

  #tryAgain(): void {
    this.#retry = null
    for (let item = this.#held[0]; item !== undefined; item = this.#held[0]) {
      const written = this.#write(item.chunk, item.stream)
      this.#heldBytes -= written
      if (written < item.chunk.length) {
        item.chunk = item.chunk.subarray(written)
        return
      }
      this.#held.shift()
    }
    for (const resolve of this.#whenFlowing.splice(0)) resolve()
    if (this.#closing) {
      this.#release()
      return
    }
    if (!this.#hasRoom()) {
      this.#hold('')
      return
    }
    this.#stopRetrying()
    this.#retryMs = FIRST_RETRY_MS
    this.#events.flows()
  }

  #hasRoom(): boolean {
    this.#uncheckedBytes = 0
    if (this.#caps.minFreeBytes <= 0) return true
    const { bavail, bsize } = statfsSync(this.#folder)
    return bavail * bsize >= this.#caps.minFreeBytes
  }

  #stopRetrying(): void {
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    this.#holds = false
  }

  #release(): void {
    this.#stopRetrying()
    this.#segments.close()
    this.#index.close()
  }
}

const TIME_EVERY_MS = 1000
const CHECK_DISK_BYTES = 4 * 1024 * 1024
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 2000

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
