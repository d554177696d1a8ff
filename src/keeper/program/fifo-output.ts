import { rmSync } from 'node:fs'
import type { Stream } from '../log/output-log.ts'
import { FifoReader } from './fifo-reader.ts'
import type { ForkedEvents, Output } from './forked.ts'

/** Output through one FIFO, or through two where the streams are to be told apart. */
export class FifoOutput implements Output {
  readonly #readers: FifoReader[]
  readonly #paths: string[]

  constructor(
    fifos: readonly { readonly fd: number; readonly path: string; readonly stream: Stream | null }[],
    events: Pick<ForkedEvents, 'bytes' | 'outputEnded'>,
  ) {
    this.#paths = fifos.map(({ path }) => path)
    const ended = () => {
      if (!this.isOpen) events.outputEnded()
    }
    this.#readers = fifos.map(
      ({ fd, stream }) => new FifoReader(fd, (chunk) => this.#take(events.bytes(chunk, stream)), ended),
    )
  }

  get isOpen(): boolean {
    return this.#readers.some((reader) => reader.isOpen)
  }

  hold(): void {
    for (const reader of this.#readers) reader.hold()
  }

  flow(): void {
    for (const reader of this.#readers) if (reader.isOpen) reader.flow()
  }

  drain(): void {
    for (const reader of this.#readers) reader.drain()
  }

  /** Whoever still writes has it open already; no later keeper is to look for it. */
  leaderGone(): void {
    for (const path of this.#paths.splice(0)) rmSync(path, { force: true })
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
    this.leaderGone()
  }

  #take(flows: boolean): boolean {
    if (!flows) this.hold()
    return flows
  }
}
