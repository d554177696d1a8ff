import type { Stream } from '../log/output-log.ts'
import { removeFile } from '../remove-file.ts'
import type { FifoPool } from './fifo-pool.ts'
import { FifoReader } from './fifo-reader.ts'
import type { Output, OutputEvents } from './output.ts'

export interface OpenedFifo {
  /** Read-only, non-blocking. */
  readonly fd: number
  readonly path: string
  readonly stream: Stream | null
}

/** Output through one FIFO, or through two to keep the streams apart. */
export class FifoOutput implements Output {
  readonly #pool: FifoPool
  readonly #readers: FifoReader[]
  readonly #paths: string[]

  constructor(fifos: readonly OpenedFifo[], pool: FifoPool, events: OutputEvents) {
    this.#pool = pool
    this.#paths = fifos.map(({ path }) => path)
    const ended = () => {
      if (!this.isOpen) events.ended()
    }
    this.#readers = fifos.map(({ fd, stream }) => {
      const take = (chunk: Buffer) => {
        const flows = events.bytes(chunk, stream)
        if (!flows) for (const reader of this.#readers) reader.hold()
        return flows
      }
      return new FifoReader(fd, { take, ended, isWatched: events.isWatched })
    })
  }

  get isOpen(): boolean {
    return this.#readers.some((reader) => reader.isOpen)
  }

  flow(): void {
    for (const reader of this.#readers) if (reader.isOpen) reader.flow()
  }

  wake(): void {
    for (const reader of this.#readers) reader.wake()
  }

  drain(): void {
    for (const reader of this.#readers) reader.drain()
  }

  /**
   * Removes the name: writers have it open already, and no later keeper needs it. A FIFO is reused only if it is proved to be
   * closed everywhere: another reader of it would get the output of the next program.
   */
  leaderGone(isTreeEmpty: boolean): void {
    for (const path of this.#paths.splice(0))
      if (isTreeEmpty && !this.isOpen) this.#pool.takeBack(path)
      else removeFile(path)
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
    this.leaderGone(false)
  }
}
