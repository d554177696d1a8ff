import { existsSync } from 'node:fs'
import { codeOf, messageOf } from '../../base/error-text.ts'
import { ExponentialBackoff } from '../../base/exponential-backoff.ts'
import { hasRoom } from '../../output-log/has-room.ts'
import { IndexWriter } from '../../output-log/index-writer.ts'
import type { OpenLog, OpenLogs } from '../../output-log/open-logs.ts'
import { Segments } from '../../output-log/segments.ts'
import type { HeldBack } from '../protocol/program-state.ts'
import { RESERVE_BYTES } from '../protocol/reserve.ts'
import type { OutputCaps } from '../protocol/spawn-plan.ts'
import type { ProgramLog } from './program-log.ts'

/** Of a program whose pipes are kept apart. */
export type Stream = 'stdout' | 'stderr'

/** The events of a log. */
export interface LogEvents {
  /** All buffered bytes are on disk: the program may go on. */
  flows(): void
  /** The log was deleted: further output is discarded. */
  dropped(): void
  trouble(message: string): void
  /** The amount of output that is held back has changed. */
  heldBackChanged(): void
}

/** Bytes, or a size of the terminal. */
type Piece =
  | { readonly stream: Stream | null; readonly chunk: Buffer }
  | { readonly cols: number; readonly rows: number }

/**
 * The output log of one program, as its writer sees it.
 *
 * It either *flows*, and each piece is in the page cache when `append` returns, or it *holds*: the disk did not take a piece,
 * or is nearly full. While it holds, pieces wait in memory and `append` returns false: the reader then stops reading from
 * the program. So at most one read waits, and nothing is lost.
 *
 * The log of an ended program may be deleted while its descendants still write. Then it is *dropped*: their output is still read,
 * so that no descendant blocks, but only counted.
 *
 * | state      | append                               | its folder is seen to be gone | retry                                   |
 * | flows      | written, or buffered and → held back | → dropped                     | –                                       |
 * | held back  | buffered                             | → dropped                     | all written and room → flows, else wait |
 * | dropped    | counted                              | –                             | –                                       |
 */
export class OutputLog implements ProgramLog, OpenLog {
  readonly #folder: string
  readonly #caps: OutputCaps
  readonly #events: LogEvents
  readonly #openLogs: OpenLogs
  readonly #segments: Segments
  readonly #index: IndexWriter
  readonly #buffered: Piece[] = []
  #bufferedBytes = 0
  /** Since when it is held back; null while it flows. */
  #heldBackSince: number | null = null
  /** The last write failed because the disk is full. */
  #isFull = false
  #retry: NodeJS.Timeout | null = null
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, LAST_RETRY_MS)
  #isClosing = false
  #timeAt = 0
  #stream: Stream | null = null
  #uncheckedBytes = 0
  #isDropped = false
  #droppedBytes = 0
  #whenWritten: (() => void)[] = []

  /** Continues the log of an earlier keeper. */
  constructor(folder: string, caps: OutputCaps, events: LogEvents, openLogs: OpenLogs) {
    this.#folder = folder
    this.#caps = caps
    this.#events = events
    this.#openLogs = openLogs
    this.#index = new IndexWriter(folder)
    this.#segments = new Segments(folder, caps, (from, to) => this.#index.fellOut(from, to))
    this.#prepare()
  }

  /**
   * Creating a file takes long, and bytes that a keeper has read but not written die with it: so the files are created before the
   * first byte comes. If the disk fails now, that byte is the next try.
   */
  #prepare(): void {
    this.#openLogs.used(this)
    try {
      this.#segments.prepare()
      this.#index.prepare()
    } catch {
      // Reported when there is something to write.
    }
  }

  get end(): number {
    return this.#segments.end + this.#bufferedBytes + this.#droppedBytes
  }

  get isHoldingBack(): boolean {
    return this.#heldBackSince !== null
  }

  get heldBack(): HeldBack | null {
    return this.#heldBackSince === null ? null : { since: this.#heldBackSince, bytes: this.#bufferedBytes }
  }

  get isWritten(): boolean {
    return this.#bufferedBytes === 0
  }

  /** True while the program may go on. The chunk may be used again as soon as this returns. */
  append(chunk: Buffer, stream: Stream | null): boolean {
    const written = this.isHoldingBack ? 0 : this.#write(chunk, stream)
    if (written < chunk.length) this.#buffer(chunk.subarray(written), stream)
    return !this.isHoldingBack
  }

  size(cols: number, rows: number): void {
    if (this.isHoldingBack || !this.#writeSize(cols, rows)) this.#buffered.push({ cols, rows })
  }

  async flushed(withinMs?: number): Promise<void> {
    if (this.isWritten) return
    await new Promise<void>((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs)
      this.#whenWritten.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  close(): void {
    this.#isClosing = true
    if (this.isWritten) this.#release()
  }

  /** Makes room for other logs: the next byte reopens the files. */
  closeFiles(): void {
    this.#segments.close()
    this.#index.close()
  }

  /** How many bytes the disk took. The log holds because of the rest. */
  #write(chunk: Buffer, stream: Stream | null): number {
    let written = 0
    const at = this.#segments.end
    if (!this.#isDropped) this.#openLogs.used(this)
    try {
      // The stream is noted before the bytes, because no reader may attribute them to the other stream, even for a moment.
      // The time is noted after them, because until the bytes are written, the death of the keeper would lose them.
      if (stream !== null && !this.#isDropped) this.#note(stream, at)
      while (!this.#isDropped && written < chunk.length) written += this.#segments.write(chunk, written)
      if (stream === null && !this.#isDropped) this.#note(null, at)
    } catch (error) {
      if (!this.#drop()) this.#cannotWrite(error)
    }
    if (this.#isDropped) {
      this.#droppedBytes += chunk.length - written
      return chunk.length
    }
    if (written < chunk.length) return written
    this.#uncheckedBytes += written
    if (this.#uncheckedBytes >= CHECK_DISK_BYTES && !this.#hasRoom())
      this.#holdBack(
        `The disk of ${this.#folder} is nearly full. It is held back until there is space again.`,
      )
    return written
  }

  #cannotWrite(error: unknown): void {
    this.#isFull = codeOf(error) === 'ENOSPC'
    this.#holdBack(
      `Its output can't be written: ${messageOf(error)}. It is held back until that works again.`,
    )
  }

  /** Whether the log has been deleted, so that a failed write is no failure. */
  #drop(): boolean {
    if (existsSync(this.#folder)) return false
    this.#isDropped = true
    this.#openLogs.closed(this)
    this.closeFiles()
    this.#events.dropped()
    return true
  }

  #writeSize(cols: number, rows: number): boolean {
    if (this.#isDropped) return true
    this.#openLogs.used(this)
    try {
      this.#index.write({ offset: this.#segments.end, sort: 'size', value: cols * 65_536 + rows })
      return true
    } catch (error) {
      if (this.#drop()) return true
      this.#cannotWrite(error)
      return false
    }
  }

  /** Notes in the index when, and from which stream, the bytes at this offset came. */
  #note(stream: Stream | null, offset: number): void {
    const now = Date.now()
    const isDue = Math.abs(now - this.#timeAt) >= TIME_EVERY_MS
    if (!isDue && stream === this.#stream) return
    this.#index.write({ offset, sort: stream ?? 'time', value: now })
    this.#timeAt = now
    this.#stream = stream
  }

  #buffer(chunk: Buffer, stream: Stream | null): void {
    this.#buffered.push({ stream, chunk: Buffer.from(chunk) })
    this.#bufferedBytes += chunk.length
    this.#events.heldBackChanged()
  }

  #holdBack(message: string): void {
    if (this.#heldBackSince === null) {
      this.#heldBackSince = Date.now()
      this.#events.trouble(message)
      this.#events.heldBackChanged()
    }
    if (this.#retry !== null) return
    this.#retry = setTimeout(() => this.#tryAgain(), this.#backoff.nextMs())
  }

  #tryAgain(): void {
    this.#retry = null
    // A released reserve is for a daemon that starts, not for output.
    if (this.#isFull && !hasRoom(this.#folder, RESERVE_BYTES + 1)) {
      this.#holdBack('')
      return
    }
    this.#isFull = false
    if (!this.#writeBuffered()) return
    for (const resolve of this.#whenWritten.splice(0)) resolve()
    if (this.#isClosing) this.#release()
    else if (this.#hasRoom()) {
      this.#stopRetrying()
      this.#backoff.reset()
      this.#events.flows()
    } else this.#holdBack('')
  }

  /** False if something is left to retry. */
  #writeBuffered(): boolean {
    for (let piece = this.#buffered[0]; piece !== undefined; piece = this.#buffered[0]) {
      if ('cols' in piece) {
        if (!this.#writeSize(piece.cols, piece.rows)) return false
      } else {
        const { stream, chunk } = piece
        const written = this.#write(chunk, stream)
        this.#bufferedBytes -= written
        if (written < chunk.length) {
          this.#buffered[0] = { stream, chunk: chunk.subarray(written) }
          return false
        }
      }
      this.#buffered.shift()
    }
    return true
  }

  #hasRoom(): boolean {
    this.#uncheckedBytes = 0
    return hasRoom(this.#folder, this.#caps.minFreeBytes)
  }

  #stopRetrying(): void {
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    if (this.#heldBackSince === null) return
    this.#heldBackSince = null
    this.#events.heldBackChanged()
  }

  #release(): void {
    this.#stopRetrying()
    this.#openLogs.closed(this)
    this.closeFiles()
  }
}

const TIME_EVERY_MS = 1000
export const CHECK_DISK_BYTES = 4 * 1024 * 1024
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 2000
