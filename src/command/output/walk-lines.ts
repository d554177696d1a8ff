import type { Stream } from '../../output-log/log-format.ts'
import { type Gap, joined } from './layout.ts'
import type { LineIndex, LineIndexEntry } from './line-index.ts'
import type { Masking } from './masking.ts'
import { type Piece, pieces } from './pieces.ts'
import { LineSplitter, type RawLine } from './split-lines.ts'
import { ofStream } from './streams.ts'

/** A step on the way through the lines of a log. */
export interface Step {
  /** Cut lazily. The caller must consume all of them before the next step. */
  readonly lines: Iterable<RawLine>
  /** Lines that the index counted, and that were deleted before they could be read. */
  readonly lost: Gap | null
}

export interface WalkOptions {
  readonly stream: Stream | null
  readonly first?: number
  readonly masking: Masking | null
}

/**
 * The lines of a log from one entry of its index on, and from number `first`, a piece at a time, up to where the log ended
 * when the index was made.
 * Reads only the lines of the index. Segments that have vanished since are skipped up to the next entry, where the line number is
 * known again: so numbers agree with the index's total, even if the log rotates.
 */
export async function* walkLines(
  folder: string,
  index: LineIndex,
  start: LineIndexEntry,
  { stream, first = 0, masking }: WalkOptions,
): AsyncGenerator<Step> {
  const splitter = new LineSplitter(start, first)
  let at = start.offset
  while (at < index.end) {
    const known = index.gaps.find(({ from }) => from >= at)
    let vanished: Gap | null = null
    for await (const piece of pieces(folder, at, known?.from ?? index.end, masking)) {
      vanished = piece.gap
      if (vanished !== null) break
      const parts = stream === null ? [piece] : await ofStream(folder, piece, stream)
      const lines = cutAll(splitter, parts)
      yield { lines: stream === null ? lines : remasked(lines, masking), lost: null }
    }
    const gap = vanished ?? known
    if (gap === undefined) break
    const entry = index.entries.find(({ offset }) => offset >= gap.to)
    at = entry?.offset ?? index.end
    const lost = vanished === null ? null : { from: vanished.from, to: at }
    yield { lines: remasked(splitter.breakOff(entry?.line ?? index.total), masking), lost }
  }
  yield { lines: remasked(splitter.end(), masking), lost: null }
}

/** Masks again: the interleaved pieces of one stream are joined to whole lines only here. */
function* remasked(lines: Iterable<RawLine>, masking: Masking | null): Generator<RawLine, void, void> {
  for (const line of lines)
    yield masking === null ? line : { ...line, bytes: masking.masker.bytes(line.bytes) }
}

function* cutAll(splitter: LineSplitter, parts: readonly Piece[]): Generator<RawLine, void, void> {
  for (const part of parts) yield* splitter.cut(part)
}

/** All gaps that a reader must know of. */
export function truncatedBy(index: LineIndex, lost: readonly Gap[]): Gap[] {
  return joined([...index.gaps, ...lost])
}
