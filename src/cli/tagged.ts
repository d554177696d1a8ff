import type { Acting, OutputOf, OutputPiece } from '../verbs/reeve.ts'

type Stream = OutputOf<'streams'>['parts'][number]['stream']

export interface TaggedPiece extends OutputPiece {
  /** Null where the log does not tell. */
  readonly stream: Stream | null
}

/** Output with the stream that each piece came through. Pieces are cut where it changes. */
export async function* tagged(
  reeve: Acting,
  pid: string,
  pieces: AsyncIterable<OutputPiece>,
): AsyncGenerator<TaggedPiece, void, void> {
  for await (const { offset, bytes, gap } of pieces) {
    const end = offset + bytes.length
    const { parts } = bytes.length === 0 ? { parts: [] } : await reeve.streams({ pid, from: offset, to: end })
    if (parts.length === 0) yield { offset, bytes, gap, stream: null }
    for (const [index, part] of parts.entries()) {
      const from = Math.max(part.offset, offset)
      const to = Math.min(parts[index + 1]?.offset ?? end, end)
      const own = { offset: from, bytes: bytes.subarray(from - offset, to - offset), stream: part.stream }
      if (to > from) yield { ...own, gap: from === offset ? gap : null }
    }
  }
}
