import type { Gap } from './layout.ts'
import type { Masking } from './masking.ts'
import { readRange } from './read.ts'

/** A range of a log's bytes on the way to a reader, and the gap before it. */
export interface Piece {
  readonly offset: number
  readonly bytes: Buffer
  readonly gap: Gap | null
}

/** The retained bytes of a log between two offsets, piece by piece, with one piece in memory at a time. */
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
      // The log has shrunk, or was dropped: the rest is missing.
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

/** Small enough that a pattern search in one piece does not block the event loop for long. */
const PIECE_BYTES = 64 * 1024
