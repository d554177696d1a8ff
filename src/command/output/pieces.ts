import type { Gap } from './layout.ts'
import type { Masking } from './masking.ts'
import { readRange } from './read.ts'

/** A stretch of a log's bytes on their way to a reader, and what is missing before it. */
export interface Piece {
  readonly offset: number
  readonly bytes: Buffer
  readonly gap: Gap | null
}

/** What is kept of a log between two offsets, piece by piece: never more in memory than one of them. */
export async function* pieces(
  folder: string,
  from: number,
  to: number,
  masking: Masking | null = null,
): AsyncGenerator<Piece> {
  let at = from
  while (at < to) {
    const { offset, bytes, gap, next } = await readRange(folder, at, Math.min(PIECE_BYTES, to - at), masking)
    if (next <= at) {
      // The log has become shorter, or was dropped: the rest is missing.
      yield { offset: to, bytes, gap: { from: at, to } }
      return
    }
    const kept = offset >= to ? bytes.subarray(0, 0) : bytes.subarray(0, to - offset)
    yield {
      offset: Math.min(offset, to),
      bytes: kept,
      gap: gap === null ? null : { from: at, to: Math.min(offset, to) },
    }
    at = next
  }
}

/** Small enough that the search for a pattern in one does not hold up others for long. */
const PIECE_BYTES = 64 * 1024
