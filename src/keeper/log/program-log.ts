import type { HeldBack } from '../protocol/messages.ts'

/** An output log, as far as it does not matter who writes it. */
export interface ProgramLog {
  /** Its length, with what waits to be written. */
  readonly end: number
  /** Whether the program is held back, because the disk takes no more. */
  readonly isHolding: boolean
  readonly heldBack: HeldBack | null
  /** Whether all of it is on disk. */
  readonly isWritten: boolean
  /** When all of it is on disk, or after `withinMs`, if that is given. */
  flushed(withinMs?: number): Promise<void>
  /** The terminal has this size from here on. */
  size(cols: number, rows: number): void
  /** No more comes. What is still held goes on being tried. */
  close(): void
}
