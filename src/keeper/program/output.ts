import type { Stream } from './output-log.ts'

/** The source of a program's output. */
export interface Output {
  /** False when no more can come. */
  readonly isOpen: boolean
  /** Resumes after `false`. */
  flow(): void
  /** Output is wanted soon: the program got input, or has a follower. */
  wake(): void
  /** Reads synchronously everything that was written before this call. */
  drain(): void
  /** The program itself has ended; further output comes from its descendants, unless `isTreeEmpty`. */
  leaderGone(isTreeEmpty: boolean): void
  close(): void
}

export interface OutputEvents {
  /** False: read no more until `flow`, so that the program waits. The chunk is only valid until this returns. */
  bytes(chunk: Buffer, stream: Stream | null): boolean
  /** Whether a follower waits for output. */
  isWatched(): boolean
  /** No writer is left. */
  ended(): void
}
