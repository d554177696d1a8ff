import { messageOf } from './error-text.ts'
import { ExponentialBackoff } from './exponential-backoff.ts'

export interface LineLogOptions {
  /** The line that reports how many lines were dropped, without its line end. */
  readonly lostLine: (count: number) => string
  /** Writes to the file, and returns how many bytes it took: `writeSync`. */
  readonly write: (fd: number, bytes: Buffer) => number
}

/** The state of a log whose file takes no lines at the moment. */
export interface LogTrouble {
  readonly since: number
  readonly message: string
  /** Lines that are buffered in memory. */
  readonly waiting: number
  /** Lines that were dropped, because the buffer is full. */
  readonly lost: number
}

/**
 * The log of a daemon or a keeper. Lines are written at once, so that the lines before a crash are in the file. A full disk
 * must not end the program that logs: `write` never throws.
 *
 * | state     | write                                          | retry                                                |
 * | writing   | written, or buffered → buffering               | –                                                    |
 * | buffering | buffered, or counted as lost if buffer is full | all written, then the count of lost lines → writing  |
 */
export class LineLog {
  readonly #fd: number
  readonly #options: LineLogOptions
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #lost = 0
  #since: number | null = null
  #message = ''
  #retry: NodeJS.Timeout | null = null
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, MAX_RETRY_MS)

  constructor(fd: number, options: LineLogOptions) {
    this.#fd = fd
    this.#options = options
  }

  /** `line` ends with its line end. */
  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#since === null) {
      const written = this.#tryWrite(bytes)
      if (written < bytes.length) this.#keep(bytes.subarray(written))
    } else if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) this.#lost += 1
    else this.#keep(bytes)
  }

  get trouble(): LogTrouble | null {
    if (this.#since === null) return null
    return { since: this.#since, message: this.#message, waiting: this.#waiting.length, lost: this.#lost }
  }

  #keep(bytes: Buffer): void {
    this.#since ??= Date.now()
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#retryLater()
  }

  /** The timer does not keep the program alive. */
  #retryLater(): void {
    if (this.#retry !== null) return
    this.#retry = setTimeout(() => this.#writeWaiting(), this.#backoff.nextMs())
    this.#retry.unref()
  }

  #writeWaiting(): void {
    this.#retry = null
    for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
      const written = this.#tryWrite(line)
      this.#waitingBytes -= written
      if (written < line.length) {
        this.#waiting[0] = line.subarray(written)
        this.#retryLater()
        return
      }
      this.#waiting.shift()
    }
    const lost = this.#lost
    this.#lost = 0
    this.#since = null
    this.#backoff.reset()
    if (lost > 0) this.write(`${this.#options.lostLine(lost)}\n`)
  }

  /** Returns how many bytes the file took. */
  #tryWrite(bytes: Buffer): number {
    let written = 0
    try {
      while (written < bytes.length) written += this.#options.write(this.#fd, bytes.subarray(written))
    } catch (error) {
      this.#message = messageOf(error)
    }
    return written
  }
}

const MAX_WAITING_BYTES = 256 * 1024
const FIRST_RETRY_MS = 50
const MAX_RETRY_MS = 5_000
