import type { OutputOf } from './reeve.ts'

/** A piece of an output log. `gap`: bytes right before it that are no longer kept. */
export interface OutputPiece {
  readonly offset: number
  readonly bytes: Uint8Array
  readonly gap: { readonly from: number; readonly to: number } | null
  /** With the last piece of `followOutput`, which has no bytes: how the command ended. */
  readonly outcome?: NonNullable<OutputOf<'show'>['outcome']>
}

/** A live terminal: output to iterate over, input and size. Detaching does not change the process. */
export interface Attachment extends AsyncIterable<OutputPiece> {
  /** Types text, or raw bytes. Resolves when the terminal has taken it. */
  write(text: string | Uint8Array): Promise<{ readonly bytes: number }>
  /** Changes the size of the terminal. */
  resize(size: { readonly cols: number; readonly rows: number }): Promise<void>
  /** Ends the iteration. The process lives on. */
  detach(): void
}
