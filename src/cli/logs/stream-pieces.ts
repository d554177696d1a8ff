import type { OutputPiece } from '../../verbs/attachment.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { tagged } from '../tagged.ts'

export type StreamName = 'stdout' | 'stderr'

/** The pieces of one stream alone; all of them if none is named. */
export async function* ofStream(
  reeve: ReeveVerbs,
  pid: string,
  pieces: AsyncIterable<OutputPiece>,
  wanted: StreamName | undefined,
): AsyncGenerator<OutputPiece, void, void> {
  if (wanted === undefined) yield* pieces
  else for await (const piece of tagged(reeve, pid, pieces)) if (piece.stream === wanted) yield piece
}
