import type { Stream } from '../log/output-log.ts'

/** Where the bytes of a program come from. */
export interface Output {
  /** False when no more can come. */
  readonly isOpen: boolean
  /** Reads on after it was told to stop. */
  flow(): void
  /** Somebody wants to know what comes now: the program was given something, or is looked at. */
  wake(): void
  /** Reads, here and now, what was written before this call. */
  drain(): void
  /** The program itself has ended; what comes now comes from its descendants, unless `nobodyLeft`. */
  leaderGone(nobodyLeft: boolean): void
  close(): void
}

export interface OutputEvents {
  /** False: read no more until `flow`, so that the program waits. The chunk is only good until this returns. */
  bytes(chunk: Buffer, stream: Stream | null): boolean
  /** Whether somebody waits for what comes. */
  isWatched(): boolean
  /** Nobody can write any more. */
  ended(): void
}
