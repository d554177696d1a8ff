import type { HeldBack } from '../protocol/program-state.ts'

/** An output log, written by the keeper or by the program itself. */
export interface ProgramLog {
  /** Its length, including bytes that wait to be written. */
  readonly end: number
  /** Whether the program is held back, because the disk is full. */
  readonly isHoldingBack: boolean
  readonly heldBack: HeldBack | null
  /** Whether all of it is on disk. */
  readonly isWritten: boolean
  /** Resolves when all of it is on disk, or after `withinMs`. */
  flushed(withinMs?: number): Promise<void>
  /** The terminal has this size from here on. */
  size(cols: number, rows: number): void
  /** No more output comes. Buffered bytes are still retried. */
  close(): void
}
