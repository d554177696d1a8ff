import type { OutputPiece } from '../verbs/attachment.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

type Stream = OutputOf<'outputStreams'>['parts'][number]['stream']

export interface TaggedPiece extends OutputPiece {
  /** Null if the log does not say. */
  readonly stream: Stream | null
}

/** How much of the log one request asks about, if that much has been printed. */
const AHEAD_BYTES = 1024 * 1024

/** Adds the stream (standard output or error) to each piece of output. A piece is cut where the stream changes. */
export async function* tagged(
  reeve: ReeveVerbs,
  pid: string,
  pieces: AsyncIterable<OutputPiece>,
): AsyncGenerator<TaggedPiece, void, void> {
  let known: OutputOf<'outputStreams'> = { parts: [], end: 0 }
  let next = 0
  for await (const piece of pieces) {
    const { offset, bytes, gap } = piece
    const end = offset + bytes.length
    if (bytes.length === 0) yield { ...piece, stream: null }
    for (let at = offset; at < end; ) {
      if (at >= known.end) {
        known = await reeve.outputStreams({ pid, from: at, to: Math.max(end, at + AHEAD_BYTES) })
        next = 0
      }
      while ((known.parts[next]?.offset ?? Number.POSITIVE_INFINITY) <= at) next++
      const until = known.parts[next]?.offset ?? known.end
      // An answer that does not reach `at` must not make this loop endless.
      const to = until > at ? Math.min(until, end) : end
      const part = { offset: at, bytes: bytes.subarray(at - offset, to - offset) }
      yield { ...part, gap: at === offset ? gap : null, stream: known.parts[next - 1]?.stream ?? null }
      at = to
    }
  }
}
